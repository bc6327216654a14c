// The drawing of a workflow as plain text: a tree of phases with their states, no wider than asked for.
import { fitted } from "../text/columns.ts";
import { bytesText, timeText } from "./report.ts";
import type { PhaseStatus, WorkflowRun } from "./status.ts";

export interface DrawOptions {
  /** Columns (default 80). */
  width?: number;
}

const SIGNS: Record<PhaseStatus["state"], string> = {
  done: "✓",
  skipped: "–",
  running: "▶",
  interrupted: "↯",
  waiting: "?",
  failed: "✗",
  ready: "○",
  blocked: "‖",
  pending: "·",
};
/** Deeper phases are drawn at this depth: something has to be left for their names. */
const NARROWEST = 24;

/** Each phase stands once, under the last phase that it needs; the others are named beside it. */
export function drawWorkflow(run: WorkflowRun, { width = 80 }: DrawOptions = {}): string {
  const columns = Math.max(20, width);
  const place = new Map(run.phases.map(({ id }, i) => [id, i]));
  const placeOf = (id: string): number => place.get(id) ?? -1;
  const under = new Map<string | undefined, PhaseStatus[]>();
  for (const phase of run.phases) {
    const parent = phase.needs.toSorted((a, b) => placeOf(a) - placeOf(b)).at(-1);
    under.set(parent, [...(under.get(parent) ?? []), phase]);
  }
  const lines = [cut(`${plain(run.name)} · ${run.state} · ${run.context}`, columns)];
  const draw = (parent: string | undefined, indent: string): void => {
    const children = under.get(parent) ?? [];
    for (const [i, phase] of children.entries()) {
      const last = i === children.length - 1;
      const deep = indent.length + NARROWEST > columns;
      const branch = deep ? "" : last ? "└─ " : "├─ ";
      const below = deep ? "" : last ? "   " : "│  ";
      lines.push(cut(`${indent}${branch}${titleOf(phase)}${factsOf(phase, parent)}`, columns));
      const more = indent + below + (under.has(phase.id) ? "│  " : "   ");
      for (const note of notesOf(phase)) lines.push(cut(`${more}${note}`, columns));
      draw(phase.id, indent + below);
    }
  };
  draw(undefined, "");
  return `${lines.join("\n")}\n`;
}

function titleOf({ id, title, state }: PhaseStatus): string {
  return `${SIGNS[state]} ${id}${title === id ? "" : ` (${plain(title)})`} ${state}`;
}

function factsOf(phase: PhaseStatus, parent: string | undefined): string {
  const { agent, activeMs, bytes, runs, round, items, loop, needs, resumed } = phase;
  const others = needs.filter((one) => one !== parent);
  const facts = [
    plain(agent),
    ...(activeMs > 0 ? [timeText(activeMs)] : []),
    ...(bytes > 0 ? [bytesText(bytes)] : []),
    ...(items ? [`items ${items.done}/${items.total}${items.failed > 0 ? `, ${items.failed} failed` : ""}`] : []),
    ...(round > 1 ? [`round ${round}`] : []),
    ...(runs > 1 ? [`run ${runs}`] : []),
    ...(resumed ? ["resumed"] : []),
    ...(loop ? [`↺ ${loop.repeat.join(", ")} ≤ ${loop.max}`] : []),
    ...(others.length > 0 ? [`also needs ${others.join(", ")}`] : []),
  ];
  return ` · ${facts.join(" · ")}`;
}

function notesOf({ state, error, waitsFor }: PhaseStatus): string[] {
  const notes: string[] = [];
  if (error !== undefined && (state === "failed" || state === "waiting")) notes.push(plain(error));
  if (waitsFor)
    notes.push(
      plain(`waits for ${Object.keys(waitsFor.keys).join(", ")}${waitsFor.question ? `: ${waitsFor.question}` : ""}`),
    );
  return notes;
}

/** One line, without anything that moves the cursor or turns text around. */
function plain(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "")
    .trim();
}

const cut = (text: string, columns: number): string => fitted(text.trimEnd(), columns);
