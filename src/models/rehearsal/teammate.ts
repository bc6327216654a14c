// The part of a teammate: it plans before it acts, works on what it has claimed, answers its lead, and leaves when asked to.
import type { ModelRequest } from "../model.ts";
import { notesText } from "./notes.ts";
import { phrasesIn, type Say } from "./phrases.ts";
import {
  advance,
  attempt,
  call,
  joinedSections,
  type PlannedCall,
  paragraphs,
  type Section,
  type Stage,
  type Step,
  together,
} from "./plan.ts";
import { isContinuation, quotation, understand } from "./request.ts";
import { firstLine, foundIn, linesOf } from "./steps/results.ts";
import { ownWork, workOn } from "./steps/task.ts";
import {
  type ClaimedTask,
  happenedIn,
  type MadeCall,
  PLAN_TOOL,
  readTeamNote,
  type TranscriptNote,
} from "./transcript.ts";

type Asked = Pick<ModelRequest, "items">;

/** Only teammates are offered it. */
export const isTeammate = (tools: ReadonlySet<string>): boolean => tools.has("submit_plan");

/** Something that came and is to be dealt with. */
type Job =
  /** A plan is wanted; `feedback` when one was rejected. */
  | { kind: "plan"; feedback?: string }
  /** Nothing keeps it from working, by its prompt or now by an approval. */
  | { kind: "go"; approved: boolean; prompt: string }
  | ({ kind: "task" } & ClaimedTask)
  /** `waits`: for the approval of its plan. */
  | { kind: "message"; from: string; text: string; waits: boolean }
  | { kind: "shutdown"; id: string };

interface Inbox {
  /** What came since the last answer. */
  jobs: Job[];
  /** The calls made for them. */
  made: MadeCall[];
  answers: string[];
  /** Notes that ask for nothing, and that no answer has spoken of. */
  notes: TranscriptNote[];
}

/** Others of the team are heard, but only these are answered: two teammates would thank each other for ever. */
const ANSWERED = new Set(["lead", "user"]);

/** Contract: pure. What arrives in mid-work is added at the end, so that the replay of what was done still fits. */
function readInbox({ items }: Asked): Inbox & { prompt: string } {
  let waits = false;
  let prompt: string | undefined;
  let now: Inbox = { jobs: [], made: [], answers: [], notes: [] };
  const add = (job: Job) => {
    // What was answered is over as soon as something else comes.
    if (now.answers.length > 0) now = { jobs: [], made: [], answers: [], notes: now.notes };
    const last = now.jobs.findLast((one) => one.kind === "plan" || one.kind === "go");
    const isRepeated = job.kind === "plan" && job.feedback === undefined && last?.kind === "plan";
    if (!isRepeated) now.jobs.push(job);
  };
  const hear = (note: TranscriptNote): void => {
    const read = readTeamNote(note);
    if (read?.kind === "plan_wanted" || read?.kind === "plan_rejected") {
      waits = true;
      // The prompt waits with everything else.
      now.jobs = now.jobs.filter((one) => one.kind !== "go" || one.approved);
      add(read.kind === "plan_rejected" ? { kind: "plan", feedback: read.about } : { kind: "plan" });
    } else if (read?.kind === "plan_approved") {
      waits = false;
      add({ kind: "go", approved: true, prompt: prompt ?? "" });
    } else if (read?.kind === "task") add({ kind: "task", id: read.id, subject: read.about });
    else if (read?.kind === "shutdown") add({ kind: "shutdown", id: read.id });
    else if (ANSWERED.has(note.from)) add({ kind: "message", from: note.from, text: note.text, waits });
    else now.notes.push(note);
  };
  for (const one of happenedIn(items)) {
    if (one.kind === "made") now.made.push(...one.made);
    if (one.kind === "answered") now = { ...now, answers: [...now.answers, one.text], notes: [] };
    if (one.kind !== "heard") continue;
    if (one.words !== "" && !isContinuation(one.words)) {
      const own = one.words.split("\n\n").filter((part) => !PLAN_TOOL.test(part));
      waits ||= PLAN_TOOL.test(one.words);
      prompt ??= own.join("\n\n");
      add(waits ? { kind: "plan" } : { kind: "go", approved: false, prompt: own.join("\n\n") });
    }
    for (const note of one.notes) hear(note);
  }
  return { ...now, prompt: prompt ?? "" };
}

export function teammateReply(request: Asked, stageFor: (say: Say) => Stage): { text: string; calls: PlannedCall[] } {
  const { jobs, made, answers, prompt, notes } = readInbox(request);
  const say = phrasesIn(understand(prompt).lang);
  const next = advance(inTurn(stageFor(say), jobs), made);
  if ("calls" in next) return next;
  const other = notesText(say, notes, { meanwhile: jobs.length > 0 && answers.length === 0, mates: [] });
  const isGiven = answers.some((given) => given.includes(next.text));
  return { text: paragraphs([isGiven ? "" : next.text, other]) || say("nothingToDo"), calls: [] };
}

function* inTurn(stage: Stage, jobs: Job[]): Step {
  const sections: Section[] = [];
  for (const job of jobs) sections.push(yield* (STEPS[job.kind] as (stage: Stage, job: Job) => Step)(stage, job));
  return joinedSections(sections);
}

type JobOf<Kind extends Job["kind"]> = Extract<Job, { kind: Kind }>;
const STEPS: { [Kind in Job["kind"]]: (stage: Stage, job: JobOf<Kind>) => Step } = {
  plan: submitPlan,
  go: goAhead,
  task: workOn,
  message: answerMessage,
  shutdown: leave,
};

const TASKS_SHOWN = 5;

/** Looks and plans; changes nothing. */
function* submitPlan(stage: Stage, { feedback }: JobOf<"plan">): Step {
  const { say } = stage;
  const [board, files] = yield* together([
    call(stage, "list_tasks", { claimable: true }),
    call(stage, "glob", { pattern: "**/*" }),
  ]);
  const tasks = board.isError ? [] : linesOf(board.text).filter((line) => /^task_\w+ /.test(line));
  const shown = tasks.slice(0, TASKS_SHOWN).map((task) => `   - ${task}`);
  const parts = { tasks: shown.join("\n"), files: files.isError ? "" : String(foundIn(say, files.text).n) };
  const plan = [...(feedback === undefined ? [] : [say("newPlan", { feedback })]), say("plan", parts)].join("\n");
  return yield* attempt(stage, "submit_plan", { plan }, (text) => say("planSubmitted", { said: firstLine(text) }));
}

/** The prompt itself is done when it is a request that is understood; otherwise work comes from the board. */
function* goAhead(stage: Stage, { approved, prompt }: JobOf<"go">): Step {
  const { say } = stage;
  const intents = ownWork(prompt);
  const done = intents ? yield* stage.planFor(intents) : { text: say("ready"), ok: true };
  return { text: paragraphs([approved ? say("approved") : "", done.text]), ok: done.ok };
}

/** Once, to whoever wrote it. */
function* answerMessage(stage: Stage, { from, text, waits }: JobOf<"message">): Step {
  const intents = waits ? undefined : ownWork(text);
  const done = intents && (yield* stage.planFor(intents));
  const content = done?.text || stage.say("gotMessage", { text: quotation(text), waits });
  return yield* attempt(stage, "send_message", { to: from, content });
}

function leave(stage: Stage, { id }: JobOf<"shutdown">): Step {
  return attempt(stage, "answer_shutdown", { request_id: id, approve: true }, () => stage.say("goodbye"));
}
