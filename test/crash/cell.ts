// One cell of the matrix: run, kill, take up again until the turn has ended, take up once more, and count what went wrong.
import fs from "node:fs";
import path from "node:path";
import { ledgerReaders } from "../../src/cli/ledger-readers.ts";
import { listContexts } from "../../src/contexts/listing.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { addCounts, type Counts, emptyCounts, LONG } from "./counts.ts";
import { type Exit, inCopy, type Look, openWorld, until, type Way, type World } from "./driver.ts";
import type { Scenario } from "./scenarios.ts";

const MOST_RUNS = 12;
const UNKNOWN = /\bunknown\b/;

/** `ways[i]` is how the i-th process is run; past the end nothing is done to it. */
export async function runCell(scenario: Scenario, ways: Way[], label = scenario.name): Promise<Counts> {
  const { transcript } = await referenceOf(scenario);
  const world = await openWorld(scenario.rounds, scenario.door);
  try {
    scenario.setUp?.(world.project);
    return await judge(world, scenario, { ways, label, reference: transcript });
  } catch (error) {
    throw new Error(`${label}: ${(error as Error).message}`, { cause: error });
  } finally {
    await world.close();
  }
}

interface Plan {
  ways: Way[];
  label: string;
  reference: string[];
}

async function judge(world: World, scenario: Scenario, { ways, label, reference }: Plan): Promise<Counts> {
  const counts: Counts = { ...emptyCounts(), cells: 1 };
  const blame = (fault: keyof Counts["faults"], what: string, n = 1) => {
    counts.faults[fault] += n;
    counts.notes.push(`${label}: ${fault}: ${what}`);
  };
  const requests = () => world.server.log().requests;
  const marks = new Map<string, string>();
  const seen = new Set<string>();
  let look: Look = { contexts: [], damage: [] };
  for (let i = 0; ; i++) {
    if (i >= MOST_RUNS) throw new Error(`not ended after ${MOST_RUNS} runs`);
    const context = look.contexts[0];
    const recorded = count(context?.events, "reply.received");
    const asked = requests().length;
    const exit = await world.run(wordsFor(context, scenario), ways[i]);
    const killed = exit.signal === "SIGKILL" && !exit.hung;
    if (exit.hung) blame("hangs", `run ${i + 1} did not end: ${story(exit)}`);
    if (killed) counts.kills++;
    const complaint = ways[i]?.complaint?.(exit);
    if (complaint) blame("unclear", complaint);
    const fresh = requests().slice(asked);
    const again = fresh.filter((r) => r.round < recorded);
    if (again.length > 0) blame("extraRequests", `run ${i + 1} asked again for recorded rounds`, again.length);
    const rounds = new Set(fresh.map((r) => r.round));
    if (fresh.length - again.length > rounds.size + (scenario.asksAgain ?? 0))
      blame("extraRequests", `run ${i + 1} asked twice for one round`);
    counts.repeatedInFlight += fresh.filter((r) => r.round >= recorded && r.attempt > 1).length;
    const earlier = look;
    look = await world.look();
    if (look.damage.length > 0) blame("damaged", look.damage.join("; "));
    if (look.contexts.length > 1) blame("stateDiffers", `${look.contexts.length} contexts`);
    lostSince(earlier, look).forEach((what) => void blame("lost", what));
    if (requests().length > 0 && count(look.contexts[0]?.events, "input.received") === 0)
      blame("lost", "the model was asked, but the input is not in the ledger");
    noteMarks(world, scenario, marks, seen);
    if (!killed && exit.code !== 0 && ways[i] === undefined) throw new Error(`run ${i + 1} failed: ${story(exit)}`);
    if (count(look.contexts[0]?.events, "turn.ended") > 0 && !killed) break;
  }
  const { id, events } = look.contexts[0]!;
  await resumeOnceMore(world, scenario, id, (what) => blame("stateDiffers", what));
  const ended = events.findLast((e) => e.type === "turn.ended")!.data as { reason: string; text: string };
  if (ended.reason !== "done") blame("stateDiffers", `the turn ended ${JSON.stringify(ended)}`);
  if (count(events, "input.received") > 1) blame("duplicatedEffects", "the input is there twice");
  const invalid = world.server.log().invalid;
  if (invalid.length > 0) blame("invalidTranscripts", JSON.stringify(invalid), invalid.length);
  const results = transcriptOf(world, events);
  const unknown = results.filter((r) => UNKNOWN.test(r)).length;
  counts.unknownOutcomes = unknown;
  if (unknown > 0 && !scenario.mayBeUnknown) blame("needlesslyUnknown", results.join(" | "), unknown);
  // A tool whose own write failed says so to the model, and the turn goes on: nothing is promised then but that.
  const told = results.some((r) => /EIO|ENOSPC/.test(r));
  if (unknown === 0 && !told && JSON.stringify(results) !== JSON.stringify(reference))
    blame("stateDiffers", `transcript ${JSON.stringify(results)} instead of ${JSON.stringify(reference)}`);
  judgeEffects(world, scenario, { excused: unknown > 0 || told, seen, blame });
  if (!(await until(() => world.processes().length === 0, 3_000)))
    blame("orphans", describeProcesses(world), world.processes().length);
  return counts;
}

function wordsFor(context: Look["contexts"][number] | undefined, scenario: Scenario): string[] {
  if (!context) return ["-p", scenario.prompt];
  // Killed before the input was durable: no one was told that it was taken, and the user says it again.
  if (count(context.events, "input.received") === 0) return ["-p", "-r", context.id, scenario.prompt];
  return ["-p", "-r", context.id];
}

const count = (events: StoredEvent[] | undefined, type: string): number =>
  events?.filter((e) => e.type === type).length ?? 0;

/** Whatever was in the ledger stays there, byte for byte. */
function lostSince(before: Look, after: Look): string[] {
  return before.contexts.flatMap(({ id, events }) => {
    const now = after.contexts.find((c) => c.id === id)?.events ?? [];
    const kept = JSON.stringify(now.slice(0, events.length)) === JSON.stringify(events);
    return kept ? [] : [`${id}: ${events.length} events before, now ${now.length} or other ones`];
  });
}

/** A file that had its final content and was nevertheless written again shows by its inode or time. */
function noteMarks(world: World, scenario: Scenario, marks: Map<string, string>, rewritten: Set<string>): void {
  for (const [name, content] of Object.entries(scenario.files)) {
    const file = path.join(world.project, name);
    if (!fs.existsSync(file) || fs.readFileSync(file, "utf8") !== content) continue;
    const { ino, mtimeMs } = fs.statSync(file);
    const mark = `${ino} ${mtimeMs}`;
    if (marks.has(name) && marks.get(name) !== mark) rewritten.add(name);
    marks.set(name, mark);
  }
}

async function resumeOnceMore(
  world: World,
  scenario: Scenario,
  id: string,
  differs: (what: string) => void,
): Promise<void> {
  const before = await shown(world, scenario, id);
  const asked = world.server.log().requests.length;
  const exit = await world.run(["-p", "-r", id]);
  if (exit.code !== 0) differs(`a second resume failed: ${story(exit)}`);
  if (world.server.log().requests.length !== asked) differs("a second resume asked the model");
  if ((await shown(world, scenario, id)) !== before) differs("a second resume changed the state");
}

/** State and events, folded by every mechanism as `contexts show` does (in a long run the events alone: state is what they fold to). */
async function shown(world: World, scenario: Scenario, id: string): Promise<string> {
  if (LONG || scenario.door?.script) return JSON.stringify(await world.look());
  return inCopy(world.stateDir, async (store) => {
    const { updatedAt: _, heldBy: __, ...info } = (await listContexts(store)).find((one) => one.id === id)!;
    const where = { root: world.project, jobsDir: path.join(world.stateDir, "jobs") };
    const { problems, readOnly, state } = await openLedger({ store, name: id, ...(await ledgerReaders(where)) });
    if (problems.length > 0 || readOnly)
      throw new Error(`cannot be read whole: ${JSON.stringify([problems, readOnly])}`);
    const events: StoredEvent[] = [];
    for await (const event of store.read(id)) events.push(event);
    return JSON.stringify({ ...info, slices: state.slices, events });
  });
}

/** Results and answers in order, with what differs between two undisturbed runs taken out. */
function transcriptOf(world: World, events: StoredEvent[]): string[] {
  const said = events.filter((e) => e.type === "tool.finished" || e.type === "turn.ended");
  return said.map((e) => {
    const data = e.data as { callId?: string; content?: unknown; text?: string };
    return `${data.callId ?? "end"} ${JSON.stringify(data.content ?? data.text)}`
      .replaceAll(world.dir, "DIR")
      .replaceAll(/job_\w+/g, "JOB")
      .replaceAll(/\d+(\.\d+)? ?m?s\b/g, "TIME");
  });
}

interface EffectsOf {
  /** The model was told that an effect is unknown or failed. */
  excused: boolean;
  seen: Set<string>;
  blame: (fault: "duplicatedEffects" | "missingEffects", what: string) => void;
}

function judgeEffects(world: World, scenario: Scenario, { excused, seen, blame }: EffectsOf): void {
  const log = path.join(world.project, "effects.log");
  const lines = fs.existsSync(log) ? fs.readFileSync(log, "utf8").trimEnd().split("\n") : [];
  for (const effect of scenario.effects) {
    const times = lines.filter((line) => line === effect).length;
    if (times > 1) blame("duplicatedEffects", `${effect} ${times} times`);
    if (times === 0 && !excused) blame("missingEffects", effect);
  }
  for (const [name, content] of Object.entries(scenario.files)) {
    const file = path.join(world.project, name);
    const is = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
    if (is !== content && !excused) blame("missingEffects", `${name} holds ${JSON.stringify(is)}`);
    if (seen.has(name)) blame("duplicatedEffects", `${name} was written again`);
  }
  const extra = fs.readdirSync(world.project, { recursive: true }).filter((f) => /\.tmp|~$/.test(String(f)));
  if (extra.length > 0) blame("duplicatedEffects", `left behind: ${extra.join(", ")}`);
  const notified = world.server.log().requests.at(-1)?.body.messages ?? [];
  const notes = JSON.stringify(notified).split("<task_notification").length - 1;
  if (scenario.notifications !== undefined && notes !== scenario.notifications)
    blame(notes === 0 ? "missingEffects" : "duplicatedEffects", `${notes} job notifications`);
}

const story = (exit: Exit): string => `code ${exit.code} signal ${exit.signal}: ${exit.stderr.slice(-600)}`;

const describeProcesses = (world: World): string =>
  world
    .processes()
    .map((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " "))
    .join("; ");

interface Reference {
  transcript: string[];
  wholeMs: number;
}

const references = new Map<string, Promise<Reference>>();

/** What an undisturbed run leaves in the transcript; a killed and resumed one must leave the same. */
function referenceOf(scenario: Scenario): Promise<Reference> {
  let found = references.get(scenario.name);
  if (!found) {
    found = makeReference(scenario);
    references.set(scenario.name, found);
  }
  return found;
}

/** How long an undisturbed run takes when the machine is least busy. */
export async function quickestMs(scenario: Scenario): Promise<number> {
  const runs = [await makeReference(scenario), await makeReference(scenario), await makeReference(scenario)];
  return Math.min(...runs.map((r) => r.wholeMs));
}

async function makeReference(scenario: Scenario): Promise<Reference> {
  const world = await openWorld(
    scenario.rounds.map((round) => ({ ...round, faults: [] })),
    scenario.door,
  );
  try {
    scenario.setUp?.(world.project);
    const startedAt = Date.now();
    const exit = await world.run(["-p", scenario.prompt]);
    const wholeMs = Date.now() - startedAt;
    if (exit.code !== 0) throw new Error(`the undisturbed run failed: ${story(exit)}`);
    return { transcript: transcriptOf(world, (await world.look()).contexts[0]!.events), wholeMs };
  } finally {
    await world.close();
  }
}

/** Cells, two at a time. */
export async function runCells<T>(plans: T[], cell: (plan: T) => Promise<Counts>): Promise<Counts> {
  const total = emptyCounts();
  const waiting = [...plans];
  const worker = async () => {
    for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift()) addCounts(total, await cell(plan));
  };
  await Promise.all([worker(), worker()]);
  return total;
}
