// A conversation played by a script, and what its calls gave: for tests of what leaves the view and comes back.
import { onTestFinished } from "vitest";
import type { HarnessOptions } from "../../src/harness-options.ts";
import { unspill } from "../../src/ledger/spill.ts";
import { textOf } from "../../src/models/model.ts";
import type { Script, ScriptCall, ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { type House, openHouse } from "../house.ts";

export const calling = (name: string, input: object = {}): ScriptRound => ({ calls: [{ name, input }] });
/** The provider says that the prompt is too long: what is oldest leaves the view. */
export const tooLong: ScriptRound = {};
const REFUSED = {
  status: 400,
  type: "invalid_request_error",
  code: "context_length_exceeded",
  message: "This model's maximum context length is 128000 tokens. However, your messages resulted in more.",
};
export const recalls = (...asked: object[]): ScriptRound => ({
  calls: asked.map((input): ScriptCall => ({ name: "recall", input })),
});

interface Result {
  call: string;
  tool: string;
  text: string;
}

export interface Played {
  house: House;
  context: string;
  /** Goes on with what is said next: a turn that plays these rounds, then ends. */
  go(rounds: ScriptRound[], said?: string): Promise<void>;
  /** What the model was shown for each call of an agent; a failed one begins with "! ". */
  results(agent?: string): Promise<Result[]>;
  /** What the last calls of `recall` gave, the newest last. */
  recalled(count: number): Promise<string[]>;
}

async function resultsOf(house: House, context: string, agent: string): Promise<Result[]> {
  const shown: Result[] = [];
  for (const event of await house.events(context)) {
    if (event.type !== "tool.finished" || event.actor !== agent) continue;
    const { data } = await unspill(event.data, house.store.blob);
    const { callId, name, content, isError } = data as { callId: string; name: string; content: []; isError: boolean };
    shown.push({ call: callId, tool: name, text: `${isError ? "! " : ""}${textOf(content)}` });
  }
  return shown;
}

/** What calls of `recall` gave, the oldest first. */
export const recalledOf = async (house: House, context: string, agent: string): Promise<string[]> =>
  (await resultsOf(house, context, agent)).flatMap(({ tool, text }) => (tool === "recall" ? [text] : []));

/** A script of these rounds, whatever the requests are; what comes behind them is said once they are played. */
export const inOrder =
  (next: (request: ScriptRequest) => ScriptRound | undefined): Script =>
  (request) => {
    const round = next(request) ?? { text: "done" };
    return round === tooLong ? { faults: [...Array(request.attempt - 1).fill(null), REFUSED] } : round;
  };

/** The first turn plays `rounds`. */
export async function play(rounds: ScriptRound[], more: Partial<HarnessOptions> = {}, said = "begin"): Promise<Played> {
  const queue: ScriptRound[] = [];
  const house = await openHouse(
    inOrder(() => queue.shift()),
    more,
  );
  onTestFinished(() => house.close());
  let context: string | undefined;
  const go = async (next: ScriptRound[], words: string) => {
    queue.push(...next);
    const run = await house.harness.run(words, context === undefined ? {} : { context });
    context = run.context;
    await run.result;
    await run.taken.release();
  };
  const results = (agent = "lead") => resultsOf(house, context!, agent);
  await go(rounds, said);
  return {
    house,
    context: context!,
    go: (next, words = "go on") => go(next, words),
    results,
    recalled: async (count) => (await recalledOf(house, context!, "lead")).slice(-count),
  };
}
