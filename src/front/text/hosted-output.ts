// What a worker prints: what the agents that run here do, by context, and what each turn of a lead came to.
import type { Ledger } from "../../ledger/ledger.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import { contextState, LEAD } from "../../loop/agent.ts";
import { createLineRenderer } from "../presentation/lines.ts";
import { styledMarkdown } from "../presentation/markdown.ts";
import { createPresenter } from "../presentation/presenter.ts";
import { oneLine } from "../presentation/printable.ts";
import { styleFor } from "../presentation/style.ts";
import type { TextOutputOptions } from "./text-output.ts";

/** Called whenever an agent is taken here. */
type Show = (ledger: Ledger, agent: string) => void;

export function createHostedOutput({ quiet, screen, asksHere, toSee }: TextOutputOptions): Show {
  const followed = new Map<Ledger, Set<string>>();
  const style = styleFor(process.stderr, process.env);
  /** The context that the last lines were about. */
  let about = "";

  function follow(ledger: Ledger, agents: Set<string>): void {
    const presenter = createPresenter();
    const lines = createLineRenderer({ style, lead: LEAD, asksHere, toSee });
    const print = (shown: readonly string[]) => {
      if (quiet || shown.length === 0) return;
      const heading = `${style.bold(ledger.name)} ${oneLine(contextState(ledger).title, 80)}`.trimEnd();
      screen.print(about === ledger.name ? shown : [heading, ...shown]);
      about = ledger.name;
    };
    const past = { slice: <T>(name: string) => ledger.state.slices[name] as T };
    for (const block of presenter.resume(past)) print(lines.render(block));
    ledger.subscribe((event: StoredEvent) => {
      const isHere = agents.has(event.actor) || [...agents].some((agent) => event.actor.startsWith(`${agent}.`));
      for (const block of presenter.fact(event)) {
        if (!isHere) continue;
        if (block.kind === "turnEnded" && block.agent === LEAD && block.text.trim() !== "") {
          print([
            style.dim(
              `· ${block.reason === "done" ? "the lead answers" : `the turn ended (${block.reason}); the lead's last words`}:`,
            ),
          ]);
          screen.answer(`${styledMarkdown(block.text.trim(), styleFor(process.stdout, process.env))}\n`);
          if (block.error !== undefined) print(lines.render(block));
        } else if (block.kind !== "reply" || block.goesOn || block.agent !== LEAD) print(lines.render(block));
      }
    });
  }

  return (ledger, agent) => {
    const agents = followed.get(ledger) ?? new Set<string>();
    agents.add(agent);
    if (followed.has(ledger)) return;
    followed.set(ledger, agents);
    follow(ledger, agents);
  };
}
