// What the tests of goals share: a model that is also the evaluator, the command line around it, and what was recorded.
import fs from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { startModelServer } from "../../src/testing/model-server.ts";
import { isGoalQuestion, type ScriptRequest, type ScriptRound } from "../../src/testing/model-server-script.ts";
import { type CliOptions, runCli, startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

export type Says = (nth: number, request: ScriptRequest) => ScriptRound;

/** `works` is told how many rounds were asked for before, `judges` how many questions. */
export function scriptOf({ works, judges }: { works: Says; judges: Says }) {
  let [worked, judged] = [0, 0];
  return (request: ScriptRequest): ScriptRound =>
    isGoalQuestion(request) ? judges(judged++, request) : works(worked++, request);
}

const say = (text: string): ScriptRound => ({ text });
/** One after the other, the last for all that follow. */
export const inTurn =
  (...rounds: (ScriptRound | string)[]): Says =>
  (nth) => {
    const round = rounds[Math.min(nth, rounds.length - 1)] ?? "";
    return typeof round === "string" ? say(round) : round;
  };

export const writes = (file: string, content = "x"): ScriptRound => ({
  calls: [{ name: "write_file", input: { path: file, content } }],
});

export async function atCommandLine(script: (request: ScriptRequest) => ScriptRound) {
  const server = await startModelServer({ script });
  onTestFinished(() => server.close());
  const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const flags = ["--model", "openai-compatible/mock", "--permission-mode", "acceptEdits"];
  const options = (more: Partial<CliOptions>): CliOptions => ({ cwd, state, ...more, env: { ...env, ...more.env } });
  /** Words are a prompt; flags may stand among them. */
  const run = (args: string[], more: Partial<CliOptions> = {}) => runCli(["-p", ...args, ...flags], options(more));
  const start = (args: string[], more: Partial<CliOptions> = {}) => startCli(["-p", ...args, ...flags], options(more));
  const holdfast = (...args: string[]) => runCli(args, options({}));
  const holdfastDir = path.join(state, "holdfast", "projects");
  /** Of the newest context, or of that one. */
  const events = async (context?: string): Promise<StoredEvent[]> => {
    const id = context ?? JSON.parse((await holdfast("contexts", "ls", "--json")).stdout)[0].id;
    const store = await openSqliteStore(path.join(holdfastDir, fs.readdirSync(holdfastDir)[0]!, "ledger.db"));
    const all: StoredEvent[] = [];
    for await (const event of store.read(id)) all.push(event);
    await store.close();
    return all;
  };
  return {
    server,
    cwd,
    state,
    run,
    start,
    holdfast,
    events,
    questions: () => server.log().requests.filter(isGoalQuestion),
  };
}

/** What was recorded of goals, without what is counted. */
export const goalFactsIn = (events: readonly StoredEvent[]): unknown[] =>
  events
    .filter(({ type }) => type.startsWith("goal."))
    .map(({ type, data }) => {
      const { inputId: _, round: __, calls: ___, ...rest } = data as Record<string, unknown>;
      return [type.slice("goal.".length), ...Object.values(rest)].join(" · ");
    });
