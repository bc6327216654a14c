// What the tests of hooks share: a whole house with hooks in it, and a bare turn that fires single events.
import fs from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { CommandHook, HookEvent } from "../../src/claude-code/hook-events.ts";
import type { Harness } from "../../src/harness.ts";
import type { HarnessOptions } from "../../src/harness-options.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { mergeSeams } from "../../src/loop/merge.ts";
import type { GateCall, Mechanism, Tool } from "../../src/loop/seams.ts";
import { multiEditTool } from "../../src/mechanisms/files/multi-edit.ts";
import { readFileTool } from "../../src/mechanisms/files/read-file.ts";
import { writeFileTool } from "../../src/mechanisms/files/write-file.ts";
import type { HookConfig } from "../../src/mechanisms/hooks/config.ts";
import { createHooks, type HooksOptions } from "../../src/mechanisms/hooks/index.ts";
import type { RunResult } from "../../src/run-result.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { type House, openHouse, tempDir, toolOf } from "../house.ts";
import { testTurn } from "../turn.ts";

const ENV = { PATH: process.env.PATH! };

export interface HookHouse extends House {
  /** Makes a script in the project and returns how settings would name it. */
  script(name: string, text: string): string;
  /** One run with these hooks; the session is over when it resolves. */
  run(prompt: string, opts: RunHooks): Promise<RunResult & { hooksRan: unknown[] }>;
  /** What the model was shown in its request number `n`, without the system prompt. */
  messages(n: number): { role: string; content: string }[];
  read(file: string): string;
}

type RunHooks = { before?: Mechanism[]; context?: string } & Partial<HarnessOptions>;

export async function openHookHouse(script: Script): Promise<HookHouse> {
  const house = await openHouse(script);
  return {
    ...house,
    script(name, text) {
      const file = path.join(house.root, ".claude/hooks", name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text, { mode: 0o755 });
      return `"$CLAUDE_PROJECT_DIR"/.claude/hooks/${name}`;
    },
    async run(prompt, { hooks, before = [], context, ...more }) {
      const harness: Harness = await house.again({
        permissionMode: "bypassPermissions",
        hooks,
        mechanisms: before,
        ...more,
      });
      const run = await harness.run(prompt, context === undefined ? {} : { context });
      const result = await run.result;
      await harness.close();
      return { ...result, hooksRan: ranOf(await house.events(run.context)) };
    },
    messages: (n) => house.server.log().requests[n]!.body.messages.slice(1),
    read: (file) => fs.readFileSync(path.join(house.root, file), "utf8"),
  };
}

/** What was recorded of hooks, without how long they took. */
const ranOf = (events: readonly StoredEvent[]): unknown[] =>
  events.flatMap((e) => {
    if (e.type !== "hook.ran") return [];
    const { durationMs: _, ...data } = e.data as Record<string, unknown>;
    return [data];
  });

export const command = (text: string, more: Partial<CommandHook> = {}): CommandHook => ({
  type: "command",
  command: text,
  ...more,
});

const POOL: Tool[] = [writeFileTool, readFileTool, multiEditTool, toolOf("look", "read", () => ({ content: "seen" }))];

/** Hooks on a turn of their own. */
export function fireHooks(more: Partial<HooksOptions>, opts: { agent?: string } = {}) {
  const dir = tempDir("hooks");
  const hooks = createHooks({ root: dir, env: ENV, stateDir: path.join(dir, "state"), ...more });
  const turn = testTurn([hooks], { root: dir, ...opts });
  const seams = mergeSeams([hooks]);
  let calls = 0;
  const callOf = (name: string, input: unknown): GateCall => ({
    call: { type: "call", id: `c${++calls}`, name, input },
    tool: POOL.find((t) => t.name === name) ?? toolOf(name, "read", () => ({ content: "seen" })),
    input,
    turn,
  });
  return {
    dir,
    hooks,
    turn,
    seams,
    callOf,
    gate: (name = "bash", input: unknown = { command: "ls" }) => seams.gate(callOf(name, input)),
    /** Gate, then the tool itself. */
    async tool(name: string, input: unknown, output: Awaited<ReturnType<Tool["execute"]>>) {
      const call = callOf(name, input);
      const judged = await seams.gate(call);
      const run = { ...call, input: judged.input, cwd: dir, root: dir, signal: turn.signal, intent: undefined };
      return seams.tool({ ...run, grants: {}, resumed: false }, async () => output);
    },
    input: (text: string) => seams.input({ content: [{ type: "text", text }], origin: "user" }, turn),
    ran: () => ranOf(turn.events),
    status: () => turn.progress.flatMap((p) => (p.type === "status" ? [p.text] : [])),
    read: (file: string) => fs.readFileSync(path.join(dir, file), "utf8"),
    clean: () => fs.rmSync(dir, { recursive: true, force: true }),
  };
}

/** The same, cleaned up when the test that calls it is over. */
export function fired(...args: Parameters<typeof fireHooks>): ReturnType<typeof fireHooks> {
  const it = fireHooks(...args);
  onTestFinished(it.clean);
  return it;
}

/** One group of command hooks on one event. */
export const on = (event: HookEvent, hooks: (string | CommandHook)[], matcher?: string): HookConfig => ({
  [event]: [
    {
      ...(matcher === undefined ? {} : { matcher }),
      hooks: hooks.map((h) => (typeof h === "string" ? command(h) : h)),
      source: "test",
    },
  ],
});
