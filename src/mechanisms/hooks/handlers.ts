// Owns the hooks of a harness as one list, whatever they are made of: commands and functions, ready to be started.
import { messageOf } from "../../ledger/error.ts";
import type { HookOutput } from "./answer.ts";
import { type HookEnd, runCommand } from "./command.ts";
import {
  type CommandHook,
  compileMatcher,
  type HookConfig,
  type HookEvent,
  type HookGroup,
  timeoutMs,
} from "./config.ts";
import type { HookInput } from "./payload.ts";

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
  statusMessage?: string;
  /** Two with the same are one. */
  key: unknown;
  /** Contract: never throws. */
  start(input: HookInput, place: Place): Promise<HookEnd>;
}

export interface HandlerOptions {
  hooks?: HookConfig;
  inProcess?: readonly InProcessHook[];
  root: string;
  env?: Record<string, string>;
}

const RECORDED_CHARS = 200;

export function handlersOf({ hooks = {}, inProcess = [], root, env = {} }: HandlerOptions): Handler[] {
  const environment = { ...env, CLAUDE_PROJECT_DIR: root, HOLDFAST_PROJECT_DIR: root };
  const commands = (Object.entries(hooks) as [HookEvent, HookGroup[]][]).flatMap(([event, groups]) =>
    groups.flatMap((group) => group.hooks.map((hook) => commandHandler(event, group, hook, environment))),
  );
  return [...commands, ...inProcess.map(functionHandler)];
}

function commandHandler(event: HookEvent, group: HookGroup, hook: CommandHook, env: Record<string, string>): Handler {
  const place = (text: string) => text.replace(/\$\{CLAUDE_PROJECT_DIR\}/g, () => env.CLAUDE_PROJECT_DIR!);
  // Without a shell nobody else would put the directory in.
  const run = hook.args ? { command: place(hook.command), args: hook.args.map(place) } : { command: hook.command };
  const { if: rule, once, async, statusMessage } = hook;
  const source = group.source ?? "settings";
  return {
    event,
    source,
    matcher: group.matcher ?? "",
    command: [hook.command, ...(hook.args ?? [])].join(" ").slice(0, RECORDED_CHARS),
    matches: compileMatcher(group.matcher, source),
    ...(rule === undefined ? {} : { if: rule }),
    ...(once ? { once } : {}),
    ...(async ? { async } : {}),
    ...(statusMessage ? { statusMessage } : {}),
    key: JSON.stringify([hook.command, hook.args, async ?? false]),
    start: (input, at) =>
      runCommand({
        ...run,
        ...at,
        env,
        stdin: `${JSON.stringify(input)}\n`,
        timeoutMs: timeoutMs(event, hook.timeout),
      }),
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
  const interrupted: HookEnd = { kind: "failed", message: "interrupted" };
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
        (error) => finish({ kind: "failed", message: `threw: ${messageOf(error)}` }),
      );
  });
}
