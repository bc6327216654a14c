// The reading of a teammate's transcript: what came to it since its last answer, in order, and what it has done about it.
import { type ModelRequest, textOf } from "../model.ts";
import { isContinuation } from "./request.ts";
import { callsOf, heardIn, outcomesOf, type Recorded, type SituationNote } from "./situation.ts";
import { type ClaimedTask, PLAN_WANTED, readTeamNote } from "./team-notes.ts";

export type Matter =
  /** A plan is wanted; `feedback` when one was rejected. */
  | { kind: "plan"; feedback?: string }
  /** Nothing keeps it from working, by its prompt or now by an approval. */
  | { kind: "go"; approved: boolean; prompt: string }
  | { kind: "claimed"; task: ClaimedTask }
  | { kind: "message"; from: string; text: string; closed: boolean }
  | { kind: "shutdown"; id: string };

export interface Matters {
  matters: Matter[];
  /** The calls made for them. */
  recorded: Recorded[];
  answers: string[];
  /** The first words it was given; they also say in which language it speaks. */
  prompt: string;
  /** Notes that are no matter of these kinds, and that no answer has spoken of. */
  notes: SituationNote[];
}

/** Others of the team are heard, but only these are answered: two teammates would thank each other for ever. */
const ANSWERED = new Set(["lead", "user"]);

/** Contract: pure. What arrives in mid-work is added at the end, so that the replay of what was done still fits. */
export function mattersOf({ items, system }: Pick<ModelRequest, "items" | "system">): Matters {
  const results = outcomesOf(items);
  let closed = system.some((text) => PLAN_WANTED.test(text));
  let prompt: string | undefined;
  let now: Omit<Matters, "prompt"> = { matters: [], recorded: [], answers: [], notes: [] };
  const add = (matter: Matter) => {
    // What was answered is over as soon as something else comes.
    if (now.answers.length > 0) now = { matters: [], recorded: [], answers: [], notes: now.notes };
    const last = now.matters.findLast((one) => one.kind === "plan" || one.kind === "go");
    const wanted = matter.kind === "plan" && matter.feedback === undefined && last?.kind === "plan";
    if (!wanted) now.matters.push(matter);
  };
  const hear = (note: SituationNote): void => {
    const said = readTeamNote(note);
    if (said?.kind === "planWanted" || said?.kind === "rejected") {
      closed = true;
      // The prompt waits with everything else.
      now.matters = now.matters.filter((one) => one.kind !== "go" || one.approved);
      add(said.kind === "rejected" ? { kind: "plan", feedback: said.feedback } : { kind: "plan" });
    } else if (said?.kind === "approved") {
      closed = false;
      add({ kind: "go", approved: true, prompt: prompt ?? "" });
    } else if (said?.kind === "claimed") {
      add({ kind: "claimed", task: said.task });
    } else if (said?.kind === "shutdown") add({ kind: "shutdown", id: said.id });
    else if (ANSWERED.has(note.from)) add({ kind: "message", from: note.from, text: note.text, closed });
    else now.notes.push(note);
  };
  for (const item of items) {
    if (item.kind === "user") {
      const { words, notes } = heardIn(item.content);
      if (words !== "" && !isContinuation(words)) {
        closed ||= PLAN_WANTED.test(words);
        const wanted = words.replace(PLAN_WANTED, "");
        prompt ??= wanted;
        add(closed ? { kind: "plan" } : { kind: "go", approved: false, prompt: wanted });
      }
      for (const note of notes) hear(note);
    } else if (item.kind === "reply") {
      const made = callsOf(item, results);
      if (!made) now = { ...now, answers: [...now.answers, textOf(item.parts)], notes: [] };
      now.recorded.push(...(made ?? []));
    }
  }
  return { ...now, prompt: prompt ?? "" };
}
