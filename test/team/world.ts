// A team for a test: a scripted model that answers each agent by what it was told last, and a host that runs until asked to end.
import type { RunOptions } from "../../src/harness.ts";
import type { HarnessOptions } from "../../src/harness-options.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { type House, openHouse } from "../house.ts";

/** What an agent sees: who it is, what was said to it last, and everything. */
export interface Seen {
  agent: string;
  last: string;
  all: string;
  /** Replies of its own since that was said. */
  since: number;
}

export type Play = (seen: Seen) => ScriptRound | undefined;

// biome-ignore lint/suspicious/noExplicitAny: a provider's message as it came
const textOf = (message: any): string =>
  typeof message.content === "string" ? message.content : JSON.stringify(message.content ?? "");

export function seenIn({ body }: ScriptRequest): Seen {
  // biome-ignore lint/suspicious/noExplicitAny: a provider's messages as they came
  const messages: any[] = body.messages;
  const system = messages
    .filter((m) => m.role === "system")
    .map(textOf)
    .join("\n");
  const rest = messages.filter((m) => m.role !== "system");
  const at = rest.findLastIndex((m) => m.role === "user");
  return {
    agent: /You are (\w+), a teammate/.exec(system)?.[1] ?? "lead",
    last: rest
      .slice(rest.findLastIndex((m, i) => i < at && m.role !== "user") + 1, at + 1)
      .map(textOf)
      .join("\n")
      .replaceAll(/\n?<note from="holdfast">\nToday is [^<]*<\/note>/g, ""),
    all: rest.map(textOf).join("\n"),
    since: rest.slice(at + 1).filter((m) => m.role === "assistant").length,
  };
}

export interface TeamWorld {
  house: House;
  context: string;
  facts(...types: string[]): Promise<StoredEvent[]>;
  /** Runs the team until nobody has work. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function openTeam(
  play: Play,
  more: Partial<HarnessOptions> = {},
  opts: RunOptions = {},
): Promise<TeamWorld> {
  const house = await openHouse((request) => play(seenIn(request)) ?? { text: "ok" }, {
    team: { offer: true },
    ...more,
  });
  const run = await house.harness.run("begin", opts);
  await run.result;
  const over = new AbortController();
  const hosting = await house.harness.hosting({ context: run.context });
  const running = hosting.run(over.signal);
  return {
    house,
    context: run.context,
    async facts(...types) {
      return (await house.events(run.context)).filter((event) => types.includes(event.type));
    },
    async settle() {
      do {
        await hosting.settled(over.signal);
        await new Promise((resolve) => setTimeout(resolve, 50));
      } while (hosting.running > 0 || (await run.taken.agent.oneTurn()) !== undefined);
      await run.taken.agent.idle();
    },
    async close() {
      over.abort();
      await running;
      await house.close();
    },
  };
}

export const call = (name: string, input: unknown = {}): ScriptRound => ({ calls: [{ name, input }] });
