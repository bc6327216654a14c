// The command line as a user runs it: a child process on the built package.
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";

/** HOLDFAST_CRASH_CLI: another build, to see that a test fails there. */
export const bin = process.env.HOLDFAST_CRASH_CLI ?? path.join(import.meta.dirname, "../../bin/holdfast.js");

export interface CliOptions {
  cwd: string;
  state: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** Standard input stays open, for the test to write to. */
  keepStdin?: boolean;
}

export interface Exited {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli {
  child: ChildProcess;
  exited: Promise<Exited>;
}

/** Only what is given and what a process needs: no key of the machine reaches a test. */
export const startCli = (args: string[], opts: CliOptions): RunningCli => start(process.execPath, [bin, ...args], opts);

/** Another program around it: mounts, a terminal, a tracer. */
export const runProgram = (program: string, args: string[], opts: CliOptions): Promise<Exited> =>
  start(program, args, opts).exited;

/** In a terminal of its own, 100 columns wide, that does not show what is typed: keys go to the child's stdin, stdout is what the terminal was sent. */
export function startInTerminal(args: string[], opts: CliOptions): RunningCli {
  const quoted = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const env = { TERM: "xterm", ...opts.env };
  return start("script", ["-qec", `stty -echo cols 100 rows 40; exec ${quoted.join(" ")}`, "/dev/null"], {
    ...opts,
    env,
    keepStdin: true,
  });
}

export const startProgram = start;

/** What says where state is kept: in a folder of the test, its ledgers on the server that the whole run was given ($HOLDFAST_STATE). */
export function stateEnv({ state }: Pick<CliOptions, "state">): Record<string, string> {
  const { HOLDFAST_STATE } = process.env;
  return { HOME: state, XDG_STATE_HOME: state, ...(HOLDFAST_STATE && { HOLDFAST_STATE }) };
}

function start(program: string, args: string[], opts: CliOptions): RunningCli {
  const env = { PATH: process.env.PATH, ...stateEnv(opts), ...opts.env };
  const child = spawn(program, args, { cwd: opts.cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  if (!opts.keepStdin) child.stdin!.end(opts.stdin);
  let stdout = "";
  let stderr = "";
  child.stdout!.on("data", (d) => {
    stdout += d;
  });
  child.stderr!.on("data", (d) => {
    stderr += d;
  });
  return {
    child,
    exited: new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))),
  };
}

export const runCli = (args: string[], opts: CliOptions): Promise<Exited> => startCli(args, opts).exited;
