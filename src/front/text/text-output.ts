// The text format: the answer on stdout, what happens on the way on stderr; on a terminal as it comes, elsewhere only what is recorded.

import type { StoredEvent } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import type { AgentView, Turn } from "../../loop/seams.ts";
import { type ContextState, joinReplies } from "../../loop/transcript.ts";
import { textOf } from "../../models/model.ts";
import type { HarnessEvent, RunResult } from "../../run-result.ts";
import { createActivity } from "../presentation/activity.ts";
import type { FactBlock, LiveBlock, Refusal } from "../presentation/blocks.ts";
import { closingLines } from "../presentation/closing.ts";
import { createLineRenderer } from "../presentation/lines.ts";
import { createLiveReader } from "../presentation/live.ts";
import { createMarkdownStream, styledMarkdown } from "../presentation/markdown.ts";
import { createPresenter, type ShownFact } from "../presentation/presenter.ts";
import { printable } from "../presentation/printable.ts";
import { styleFor } from "../presentation/style.ts";
import { createTally } from "../presentation/tally.ts";
import type { ControlAnswer } from "../sdk-protocol/control-request.ts";
import type { Screen } from "./screen.ts";

export interface Output {
  init(info: {
    context: string;
    model: string;
    cwd: string;
    tools: string[];
    /** The types of agents there are; only looked up for a format that says them. */
    agents: string[];
    /** Skills that the model may load, and those that a person may name with `/`; likewise. */
    skills?: readonly string[];
    slashCommands?: readonly string[];
    /** MCP servers that may be connected. */
    servers?: readonly string[];
    permissionMode: string;
    lead: AgentView;
    /** What the context holds already. */
    slice: Turn["slice"];
  }): void;
  event(event: HarnessEvent): void;
  /** The answer to a request of the program. */
  control?(answer: ControlAnswer): void;
  /** An input is durable. */
  accepted?(input: { message: unknown; uuid?: string }): void;
  result(result: RunResult): void;
  /** After the last result. Contract: true when it has said so. */
  end?(last: LastWords): boolean;
}

interface LastWords {
  /** The last turn did nothing because its calls were refused. */
  changedNothing: boolean;
  /** What would have allowed a call of the lead, by its id, where its result does not say. */
  advice: ReadonlyMap<string, string[]>;
}

export interface TextOutputOptions {
  quiet: boolean;
  screen: Screen;
  /** Requests for approval are asked at this terminal. */
  asksHere: boolean;
  /** How one is seen from another. */
  toSee: (requestId: string) => string;
}

export function createTextOutput({ quiet, screen, asksHere, toSee }: TextOutputOptions): Output {
  const presenter = createPresenter();
  const reader = createLiveReader();
  const activity = createActivity();
  const tally = createTally();
  const style = styleFor(process.stdout, process.env);
  const lines = createLineRenderer({ style: styleFor(process.stderr, process.env), lead: LEAD, asksHere, toSee });
  const markdown = createMarkdownStream(style);
  /** The reply is shown as it comes. */
  const streams = screen.isLive && process.stdout.isTTY === true && !quiet;
  const startedAt = Date.now();
  const refusals: Refusal[] = [];
  let context = "";
  let rounds = 0;
  /** What the lead has said last, and whether people have seen it. */
  let said = { text: "", isShown: true, cutOff: false };

  /** Said once it is known that the lead's last words are not its answer. */
  let judged: FactBlock[] = [];

  const print = (block: FactBlock) => quiet || screen.print(lines.render(block));

  function live(block: LiveBlock): void {
    activity.live(block);
    if (block.kind === "status") {
      if (!quiet) screen.print([`· ${block.text}`]);
    } else if (!streams) return;
    else if (block.kind === "saying") screen.answer(markdown.push(block.text));
    else if (block.kind === "again") {
      endOfStream("");
      screen.print(["· what stands above does not count: the model is asked again"]);
    }
  }

  function endOfStream(rest: string): void {
    screen.answer(`${markdown.push(rest)}${markdown.end()}`);
    screen.endAnswer();
  }

  function notTheAnswer(): void {
    if (!said.isShown && said.text.trim() !== "" && !quiet) screen.print(printable(said.text).trim().split("\n"));
    for (const block of judged.splice(0)) print(block);
  }

  /** A verdict on a goal stands behind the words that it is about, wherever these are printed. */
  function verdict({ actor, type }: ShownFact, blocks: FactBlock[]): FactBlock[] {
    if (actor !== LEAD) return blocks;
    if (type === "goal.ended") judged = []; // which says why
    if (type === "goal.judged") judged = blocks;
    return type === "goal.judged" ? [] : blocks;
  }

  /** The lead has said something for good. Its last words are the answer, and printed as that; all others here. */
  function reply(block: Extract<FactBlock, { kind: "reply" }>, text: string): void {
    const shown = streams ? reader.recorded(text) : { kind: "unseen" as const };
    if (!said.cutOff) notTheAnswer();
    const whole = said.cutOff ? joinReplies(said.text, text) : text;
    if (shown.kind === "same") endOfStream(shown.rest);
    else if (shown.kind === "other") {
      endOfStream("");
      screen.print(["· recorded was this instead of what stands above:"]);
      screen.answer(`${styledMarkdown(block.text.trimEnd(), style)}\n`);
    } else if (block.goesOn) print(block);
    const isShown = (shown.kind !== "unseen" || block.goesOn) && !quiet && (said.isShown || !said.cutOff);
    said = { text: whole, isShown, cutOff: block.cutOff };
  }

  function show(event: StoredEvent): void {
    if (event.type === "turn.started") activity.turnStarted(event.actor, event.at);
    if (event.type === "turn.ended") activity.turnEnded(event.actor);
    const fact = event as ShownFact;
    if (fact.type === "reply.aside") tally.add(fact.data.model, fact.data.usage);
    for (const block of verdict(fact, presenter.fact(event))) {
      activity.fact(block);
      if (block.kind === "reply") tally.add(block.model, block.usage);
      if (block.kind === "ended" && block.refusal) refusals.push(block.refusal);
      if (block.kind === "reply" && block.agent === LEAD) {
        const { data } = event as Extract<ShownFact, { type: "reply.received" }>;
        reply(block, textOf(data.parts));
      } else if (block.kind !== "turnEnded" || block.agent !== LEAD) print(block);
    }
  }

  return {
    init(info) {
      context = info.context;
      for (const block of presenter.resume(info)) {
        activity.fact(block);
        print(block);
      }
      if (info.slice<ContextState>("transcript").agents[LEAD]?.turn) activity.turnStarted(LEAD, Date.now());
      if (!quiet) screen.status((columns) => activity.line({ at: Date.now(), columns, spent: tally.short() }));
    },
    event(event) {
      if (event.type === "event") show(event.event);
      else for (const block of reader.live(event.progress)) live(block);
    },
    result(result) {
      rounds += result.rounds;
      const isShown = said.isShown && said.text === result.text;
      if (!isShown && result.text.trim() !== "")
        screen.answer(`${styledMarkdown(printable(result.text).trimEnd(), style)}\n`);
      said = { text: result.text, isShown: true, cutOff: false };
    },
    end({ changedNothing, advice }) {
      screen.status(undefined);
      if (quiet) return false;
      const ms = Date.now() - startedAt;
      const advised = refusals.map((one) => {
        const flags = one.call.agent === LEAD ? advice.get(one.call.callId) : undefined;
        return flags ? { ...one, flags } : one;
      });
      screen.print(closingLines({ context, rounds, spent: tally.text(), ms, refusals: advised, changedNothing }));
      return true;
    },
  };
}
