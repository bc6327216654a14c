// The hooks of a harness as one list, whatever they are made of: commands and functions, ready to be started.

import type { CommandHook, HookEvent } from "../../claude-code/hook-events.ts";
import { messageOf } from "../../ledger/error.ts";
import type { HookOutput } from "./answer.ts";
import { type GoesOn, type HookEnd, runCommand } from "./command.ts";
import { compileMatcher, type HookConfig, type HookGroup, timeoutMs } from "./config.ts";
import type { HookInput } from "./payload.ts";
import { createShells, type FindShell } from "./shells.ts";

/** A hook of the embedding program. Contract: a throw, or no answer in time, refuses where the event decides something. */
export interface InProcessHook {
  event: HookEvent;
  matcher?: string;
  /** For people, in what is recorded. */
  name?: string;
  /** Seconds. */
  timeout?: number;
  run(input: HookInput, opts: { signal: AbortSignal }): Promise<HookOutput | undefined> | HookOutput | undefined;
}

/** Where and until when a hook runs. */
interface Place {
  cwd: string;
  signal?: AbortSignal;
  background?: boolean;
}

export interface Handler {
  event: HookEvent;
  source: string;
  matcher: string;
  /** What is recorded of it. */
  command: string;
  matches: (names: readonly string[]) => boolean;
  if?: string;
  once?: boolean;
  async?: boolean;
  /** Where it ends with exit code 2, the model is told why, also when it is idle. */
  rewakes?: boolean;
  statusMessage?: string;
  /** Two with the same are one. */
  key: unknown;
  /** Contract: never throws. */
  start(input: HookInput, place: Place): Promise<HookEnd | GoesOn>;
  /** What people should know about how it runs. */
  says?(): string | undefined;
}

export interface HandlerOptions {
  hooks?: HookConfig;
  inProcess?: readonly InProcessHook[];
  root: string;
  env?: Record<string, string>;
  /** Default: those of the machine. */
  shells?: FindShell;
}

const RECORDED_CHARS = 200;

export function handlersOf(opts: HandlerOptions): Handler[] {
  const { hooks = {}, inProcess = [], root, env = {}, shells = createShells(root) } = opts;
  const around = { root, env: { ...env, CLAUDE_PROJECT_DIR: root, HOLDFAST_PROJECT_DIR: root }, shells };
  const commands = (Object.entries(hooks) as [HookEvent, HookGroup[]][]).flatMap(([event, groups]) =>
    groups.flatMap((group) => group.hooks.map((hook) => commandHandler(event, group, hook, around))),
  );
  return [...commands, ...inProcess.map(functionHandler)];
}

interface Around {
  root: string;
  env: Record<string, string>;
  shells: FindShell;
}

function commandHandler(event: HookEvent, group: HookGroup, hook: CommandHook, { root, env, shells }: Around): Handler {
  const place = (text: string) => text.replace(/\$\{CLAUDE_PROJECT_DIR\}/g, () => root);
  const { if: rule, once, statusMessage, args, asyncRewake: rewakes } = hook;
  const async = hook.async || rewakes;
  /** Without a shell nobody else would put the directory in. */
  const plan = (): { program: string; args: string[] } | { unusable: string } => {
    if (args) return { program: place(hook.command), args: args.map(place) };
    const shell = shells(hook.shell);
    return "unusable" in shell ? shell : { program: shell.program, args: [...shell.args, hook.command] };
  };
  const source = group.source ?? "settings";
  return {
    event,
    source,
    matcher: group.matcher ?? "",
    command: [hook.command, ...(args ?? [])].join(" ").slice(0, RECORDED_CHARS),
    matches: compileMatcher(group.matcher, source),
    ...(rule === undefined ? {} : { if: rule }),
    ...(once ? { once } : {}),
    ...(async ? { async } : {}),
    ...(rewakes ? { rewakes } : {}),
    ...(statusMessage ? { statusMessage } : {}),
    key: JSON.stringify([hook.command, args, hook.shell, async ?? false]),
    says() {
      const shell = args ? undefined : shells(hook.shell);
      return shell && "says" in shell ? shell.says : undefined;
    },
    async start(input, at) {
      const run = plan();
      if ("unusable" in run) return { kind: "not started", message: run.unusable };
      const stdin = `${JSON.stringify(input)}\n`;
      return runCommand({ ...run, ...at, env, stdin, timeoutMs: timeoutMs(event, hook.timeout) });
    },
  };
}

function functionHandler(hook: InProcessHook): Handler {
  const afterMs = timeoutMs(hook.event, hook.timeout);
  return {
    event: hook.event,
    source: "in-process",
    matcher: hook.matcher ?? "",
    command: (hook.name ?? "(function)").slice(0, RECORDED_CHARS),
    matches: compileMatcher(hook.matcher, "this program"),
    key: hook,
    start: (input, { signal }) => callHook(hook, structuredClone(input), afterMs, signal),
  };
}

/** A function cannot be killed: at its timeout it is told by its signal, and no longer waited for. */
async function callHook(hook: InProcessHook, input: HookInput, afterMs: number, outer?: AbortSignal): Promise<HookEnd> {
  const abort = new AbortController();
  const interrupted: HookEnd = { kind: "interrupted" };
  if (outer?.aborted) return interrupted;
  return new Promise((resolve) => {
    const finish = (end: HookEnd) => {
      clearTimeout(deadline);
      outer?.removeEventListener("abort", onAbort);
      resolve(end);
    };
    const onAbort = () => {
      abort.abort();
      finish(interrupted);
    };
    const deadline = setTimeout(() => {
      abort.abort();
      finish({ kind: "timeout", afterMs });
    }, afterMs);
    outer?.addEventListener("abort", onAbort);
    Promise.resolve()
      .then(() => hook.run(input, { signal: abort.signal }))
      .then(
        (output) => finish({ kind: "output", output }),
        (error) => finish({ kind: "threw", message: messageOf(error) }),
      );
  });
}
