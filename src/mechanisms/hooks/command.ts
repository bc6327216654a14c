// One hook command as a process: its own group, input on stdin, bounded output, dead at its timeout.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Socket } from "node:net";
import { messageOf } from "../../ledger/error.ts";
import { asyncAnswer, laterAnswer } from "./async-answer.ts";

const MAX_BYTES = 1_000_000;
/** How long output may still arrive after the command itself has ended: whatever it left running may hold the pipe for ever. */
const LINGER_MS = 200;

/** How a hook ended, before anyone says what that means. */
export type HookEnd =
  | { kind: "exit"; code: number; stdout: string; stderr: string }
  /** An in-process hook returned. */
  | { kind: "output"; output: unknown }
  | { kind: "timeout"; afterMs: number }
  /** There is no such program, it may not be executed, the machine has no room for it. */
  | { kind: "not started"; message: string }
  | { kind: "killed"; signal: string }
  /** An in-process hook threw. */
  | { kind: "threw"; message: string }
  /** The turn was. */
  | { kind: "interrupted" };

/** It said that nobody should wait for it: it goes on, and ends later. `abort`: kills it. */
export interface GoesOn {
  kind: "goes on";
  end: Promise<HookEnd>;
  abort(): void;
}

export interface CommandRun {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  timeoutMs: number;
  signal?: AbortSignal;
  /** Nobody waits for it: it must not keep the process alive. */
  background?: boolean;
}

/** Contract: never throws. */
export function runCommand(run: CommandRun): Promise<HookEnd | GoesOn> {
  return new Promise((answer) => {
    if (run.signal?.aborted) return answer({ kind: "interrupted" });
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(run.program, run.args, { cwd: run.cwd, env: run.env, stdio: "pipe", detached: true });
    } catch (error) {
      return answer(notStarted(error));
    }
    // Without a descriptor to spare there are no streams, and the error comes by itself.
    if (child.stdout) follow(child, run, answer);
    else child.on("error", (error) => answer(notStarted(error)));
  });
}

const notStarted = (error: unknown): HookEnd => ({ kind: "not started", message: messageOf(error) });

/** From its start to its end, or until it says that nobody should wait. */
function follow(child: ChildProcessWithoutNullStreams, run: CommandRun, answer: (end: HookEnd | GoesOn) => void): void {
  let resolve: (end: HookEnd) => void = answer;
  let goesOn = false;
  const stdout = keepHead(child.stdout);
  const stderr = keepHead(child.stderr);
  let lingering: NodeJS.Timeout | undefined;

  const finish = (end: HookEnd) => {
    clearTimeout(deadline);
    clearTimeout(lingering);
    run.signal?.removeEventListener("abort", onAbort);
    for (const stream of [child.stdout, child.stderr, child.stdin]) stream.destroy();
    resolve(end);
  };
  const kill = (end: HookEnd) => {
    killGroup(child);
    finish(end);
  };
  const onAbort = () => kill({ kind: "interrupted" });
  const endsAfter = (ms: number) => setTimeout(() => kill({ kind: "timeout", afterMs: ms }), ms);
  let deadline = endsAfter(run.timeoutMs);
  run.signal?.addEventListener("abort", onAbort);
  const listen = () => {
    const said = asyncAnswer(stdout());
    if (said === "more") return;
    child.stdout.removeListener("data", listen);
    if (!said) return;
    goesOn = true;
    const { promise, resolve: later } = Promise.withResolvers<HookEnd>();
    resolve = later;
    run.signal?.removeEventListener("abort", onAbort); // the end of the turn is not its end
    if (said.timeoutMs !== undefined) {
      clearTimeout(deadline);
      deadline = endsAfter(said.timeoutMs);
    }
    leaveAlone(child, deadline);
    answer({ kind: "goes on", end: promise, abort: onAbort });
  };
  child.stdout.on("data", listen);

  child.on("error", (error) => finish(notStarted(error)));
  const ended = (code: number | null, signal: string | null) =>
    finish(
      code === null
        ? { kind: "killed", signal: `${signal}` }
        : { kind: "exit", code, stdout: goesOn ? laterAnswer(stdout()) : stdout(), stderr: stderr() },
    );
  child.on("exit", (code, signal) => {
    lingering = setTimeout(() => ended(code, signal), LINGER_MS);
  });
  child.on("close", ended);
  child.stdin.on("error", () => undefined); // a hook need not read its input
  child.stdin.end(run.stdin);
  if (run.background) leaveAlone(child, deadline);
}

function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // already gone
  }
}

/** Nothing of it keeps this process. */
function leaveAlone(child: ChildProcessWithoutNullStreams, deadline: NodeJS.Timeout): void {
  child.unref();
  deadline.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
}

/** Reads on past the bound, so that the command is not held up, but keeps no more. */
function keepHead(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => {
    if (size >= MAX_BYTES) return;
    chunks.push(chunk.subarray(0, MAX_BYTES - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString("utf8");
}
