// One cell of the matrix of environments: run and kill, change the world, take up until it has ended, once more, and count what went wrong.
import fs from "node:fs";
import path from "node:path";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { type Counts, emptyCounts } from "./counts.ts";
import { type Exit, killNow, type Look, openWorld, until, type Way, type World } from "./driver.ts";
import { type Environment, environments, makeRepository } from "./environments.ts";
import { type Format, notKept } from "./facts.ts";
import { type MatrixScenario, PROMPT } from "./matrix-scenarios.ts";
import type { Call } from "./strace.ts";

const MOST_RUNS = 8;

export interface Cell {
  scenario: MatrixScenario;
  environment: Environment;
  kill: Way;
  label: string;
  format: Format;
}

export async function runMatrixCell(cell: Cell): Promise<Counts> {
  const reference = await referenceOf(cell.scenario, cell.environment);
  return inWorld(cell, async (work) => {
    const counts: Counts = { ...emptyCounts(), cells: 1 };
    const blame = (fault: keyof Counts["faults"], what: string) => {
      counts.faults[fault]++;
      counts.notes.push(`${cell.label}: ${fault}: ${what}`);
    };
    try {
      await judge(work, { cell, reference, counts, blame });
    } catch (error) {
      blame("stateDiffers", (error as Error).message);
    }
    return counts;
  });
}

interface Judging {
  cell: Cell;
  reference: Reference;
  counts: Counts;
  blame: (fault: keyof Counts["faults"], what: string) => void;
}

async function judge(work: Work, { cell, reference, counts, blame }: Judging): Promise<void> {
  const { scenario, environment } = cell;
  const { world } = work;
  const said: Exit[] = [];
  let earlier: Look["contexts"][number] | undefined;
  for (let i = 0; ; i++) {
    if (i >= MOST_RUNS) throw new Error(`not ended after ${MOST_RUNS} runs: ${story(said.at(-1)!)}`);
    const exit = await work.run(i === 0 ? [environment.first ?? {}, cell.kill] : []);
    said.push(exit);
    if (exit.hung) blame("hangs", `run ${i + 1} did not end`);
    const killed = exit.signal === "SIGKILL" && !exit.hung;
    if (killed) counts.kills++;
    const complaint = i === 0 && !killed ? environment.first?.complaint?.(exit) : undefined;
    if (complaint) blame("unclear", complaint);
    const now = await work.context();
    // A workflow whose start was not acknowledged is started again, in a context of its own.
    if (earlier && (now?.id === earlier.id || !scenario.workflow)) {
      const kept = now?.events.slice(0, earlier.events.length);
      if (JSON.stringify(kept) !== JSON.stringify(earlier.events)) blame("lost", "events are gone");
    }
    earlier = now;
    if (i === 0) await work.between();
    // Where the kill was not delivered, what happened in between still has to be taken in once.
    if (!killed && i > 0 && (await work.ended())) break;
    if (!killed && i > 0 && exit.code !== 0) throw new Error(`run ${i + 1} failed: ${story(exit)}`);
  }
  // How a context was started is recorded by the first process of this version.
  if (environment.first?.cli) await work.run([]);
  await resumeOnceMore(work, blame);
  const events = await work.events();
  const { invalid } = world.server.log();
  if (invalid.length > 0) blame("invalidTranscripts", JSON.stringify(invalid));
  // What another version says too early is not this one's.
  for (const { stdout } of environment.first?.cli ? said.slice(1) : said)
    for (const fact of scenario.workflow ? [] : notKept(stdout, cell.format, events)) blame("printedNotKept", fact);
  const transcript = transcriptOf(world, events);
  const unknown = transcript.filter((line) => /\bunknown\b/.test(line)).length;
  counts.unknownOutcomes = unknown;
  const excused = environment.mayBeUnknown?.(scenario) || environment.mayFail?.test(transcript.join(" "));
  if (unknown > 0 && !excused) blame("needlesslyUnknown", transcript.join(" | "));
  const told = transcript.some((line) => environment.mayFail?.test(line));
  if (unknown === 0 && !told && JSON.stringify(transcript) !== JSON.stringify(reference.transcript))
    blame("stateDiffers", `${JSON.stringify(transcript)} instead of ${JSON.stringify(reference.transcript)}`);
  const outcome = scenario.outcome?.(world.project) ?? "";
  if (!told && outcome !== reference.outcome) blame("missingEffects", `${outcome} instead of ${reference.outcome}`);
  judgeEffects(world, scenario, { excused: unknown > 0 || told, blame });
  if (!(await until(() => world.processes().length === 0, 5_000))) blame("orphans", String(world.processes().length));
}

async function resumeOnceMore(work: Work, blame: Judging["blame"]): Promise<void> {
  const before = facts(await work.events());
  const asked = work.world.server.log().requests.length;
  const exit = await work.run([]);
  if (exit.code !== 0) blame("stateDiffers", `a second resume failed: ${story(exit)}`);
  if (work.world.server.log().requests.length !== asked) blame("extraRequests", "a second resume asked the model");
  const more = facts(await work.events()).slice(before.length);
  if (more.length > 0) blame("stateDiffers", `a second resume recorded ${more.join(", ")}`);
}

/** What is recorded of every start: the hooks of a session, and that a workflow's process was there. */
const OF_EVERY_START = ["hook.ran", "work.started", "work.ended"];
const facts = (events: StoredEvent[]): string[] =>
  events.filter((e) => !OF_EVERY_START.includes(e.type)).map((e) => `${e.type} ${JSON.stringify(e.data)}`);

function judgeEffects(
  world: World,
  { effects, files }: MatrixScenario,
  { excused, blame }: { excused: boolean; blame: Judging["blame"] },
): void {
  const text = (name: string) => {
    const file = path.join(world.project, name);
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
  };
  const lines = (text("effects.log") ?? "").split("\n");
  for (const effect of effects) {
    const times = lines.filter((line) => line === effect).length;
    if (times > 1) blame("duplicatedEffects", `${effect} ${times} times`);
    if (times === 0 && !excused) blame("missingEffects", effect);
  }
  for (const [name, content] of Object.entries(files))
    if (text(name) !== content && !excused) blame("missingEffects", `${name} holds ${JSON.stringify(text(name))}`);
}

/** Results and answers of all agents, with what differs between two undisturbed runs taken out. */
function transcriptOf(world: World, events: StoredEvent[]): string[] {
  const said = events.filter((e) => e.type === "tool.finished" || e.type === "turn.ended");
  return said.map((e) => {
    const data = e.data as { callId?: string; content?: unknown; text?: string; reason?: string };
    return `${e.actor} ${data.callId ?? data.reason} ${JSON.stringify(data.content ?? data.text)}`
      .replaceAll(world.project, "PROJECT")
      .replaceAll(world.dir, "DIR")
      .replaceAll(/job_\w+/g, "JOB")
      .replaceAll(/\b[0-9a-f]{7,40}\b/g, "HASH")
      .replaceAll(/\d+(\.\d+)? ?m?s\b/g, "TIME")
      .replaceAll(/asked \d+/g, "asked");
  });
}

/** One scenario in one environment, and the command line's words for it. */
interface Work {
  world: World;
  /** Starts it, or goes on with it where something was acknowledged. */
  run(ways: Way[]): Promise<Exit>;
  between(): Promise<void>;
  context(): Promise<Look["contexts"][number] | undefined>;
  events(): Promise<StoredEvent[]>;
  ended(): Promise<boolean>;
}

async function inWorld<T>(
  { scenario, environment, format }: Omit<Cell, "kill" | "label">,
  use: (work: Work) => Promise<T>,
): Promise<T> {
  const world = await openWorld(scenario.script, { flags: [] });
  try {
    if (environment.settings) world.settings(environment.settings);
    scenario.setUp?.(world.project);
    if (environment.git !== false) makeRepository(world.project);
    await environment.before?.(world);
    return await use(workIn(world, { scenario, environment, format, strangers: await idsIn(world) }));
  } finally {
    for (const pid of world.processes()) killNow(pid);
    environment.after?.(world);
    await world.close();
  }
}

const idsIn = async (world: World): Promise<string[]> => (await world.look()).contexts.map((c) => c.id);

interface Parts extends Omit<Cell, "kill" | "label"> {
  /** Contexts that are not the scenario's. */
  strangers: string[];
}

function workIn(world: World, { scenario, environment, format, strangers }: Parts): Work {
  let begun = false;
  const mine = async () => {
    const { contexts, damage } = await world.look();
    if (damage.length > 0) throw new Error(`damaged: ${damage.join("; ")}`);
    // Of a workflow whose start was not acknowledged the newest counts.
    return contexts.filter((c) => !strangers.includes(c.id)).at(-1);
  };

  /** Of a workflow; undefined: its start was not acknowledged. */
  const stateOf = async (id: string): Promise<string | undefined> => {
    const { code, stdout } = await world.run(["workflow", "show", id, "--json"]);
    return code === 0 ? JSON.parse(stdout).state : undefined;
  };

  /** Whether there is something to go on with, by its name. */
  async function hasBegun(): Promise<boolean> {
    const context = await mine();
    return context !== undefined && (!scenario.workflow || (await stateOf(context.id)) !== undefined);
  }

  async function words(resumed: { words?: string[] }): Promise<string[]> {
    const context = await mine();
    const more = [...scenario.flags, ...(resumed.words ?? [])];
    const output = scenario.workflow ? [] : ["--output-format", format];
    if (scenario.workflow) {
      const known = context !== undefined && (await stateOf(context.id)) !== undefined;
      if (known && environment.byPrompt) return ["-p", "-r", context.id, ...more];
      return ["workflow", ...(known ? ["retry", context.id] : ["run", "flow.yaml"]), ...more];
    }
    const has = (type: string) => context?.events.some((e) => e.type === type);
    if (!context) return ["-p", PROMPT, ...more, ...output];
    const choice = environment.newest ? ["-c"] : ["-r", context.id];
    // Killed before the input was durable: no one was told that it was taken, and the user says it again.
    return ["-p", ...choice, ...(has("input.received") ? [] : [PROMPT]), ...more, ...output];
  }

  const run = async (ways: Way[]): Promise<Exit> => {
    const resumed = begun ? (environment.resume?.(world) ?? {}) : {};
    // Where nothing was acknowledged it is begun once more, in the folder it is for.
    if (resumed.cwd !== undefined && !(await hasBegun())) delete resumed.cwd;
    begun = true;
    const all = [{ env: environment.env }, resumed, ...ways];
    const way: Way = {
      ...Object.assign({}, ...all),
      env: Object.assign({}, ...all.map((one) => one.env)),
      wrap: all.flatMap((one) => one.wrap ?? []),
      meanwhile: async (running, place) => {
        await Promise.all([scenario.beside?.(running, place), ...ways.map((one) => one.meanwhile?.(running, place))]);
      },
    };
    return world.run(await words(resumed), way);
  };

  return {
    world,
    run,
    async between() {
      let own = (await mine())?.id;
      await environment.between?.(world, async () => {
        const exit = await run([]);
        own ??= (await mine())?.id;
        return exit;
      });
      for (const id of await idsIn(world)) if (id !== own) strangers.push(id);
    },
    context: mine,
    events: async () => (await mine())?.events ?? [],
    async ended() {
      const context = await mine();
      if (!context) return false;
      if (!scenario.workflow) return context.events.some((e) => e.type === "turn.ended" && e.actor === "lead");
      return (await stateOf(context.id)) === "done";
    },
  };
}

/** How often each call is made in an undisturbed run. */
export const countCallsOf = (scenario: MatrixScenario, calls: readonly Call[]): Promise<Record<string, number>> =>
  inWorld({ scenario, environment: environments[0]!, format: "stream-json" }, async (work) => {
    const log = path.join(work.world.dir, "calls.log");
    await work.run([{ wrap: ["strace", "-qq", "-o", log, "-e", `trace=${calls.join(",")}`] }]);
    const text = fs.readFileSync(log, "utf8");
    return Object.fromEntries(calls.map((call) => [call, text.match(new RegExp(`^${call}\\(`, "gm"))?.length ?? 0]));
  });

const passings = new Map<string, Promise<Map<string, number>>>();

/** How often an undisturbed run passes each point. */
export function passingsOf(scenario: MatrixScenario): Promise<Map<string, number>> {
  const found =
    passings.get(scenario.name) ??
    inWorld({ scenario, environment: environments[0]!, format: "stream-json" }, async (work) => {
      const log = path.join(work.world.dir, "points.log");
      await work.run([{ env: { HOLDFAST_CRASH_AT: `>${log}` } }]);
      const passed = new Map<string, number>();
      for (const name of fs.readFileSync(log, "utf8").split("\n").filter(Boolean))
        passed.set(name, (passed.get(name) ?? 0) + 1);
      return passed;
    });
  passings.set(scenario.name, found);
  return found;
}

interface Reference {
  transcript: string[];
  outcome: string;
}

const references = new Map<string, Promise<Reference>>();

/** What an undisturbed run leaves, with the same variables and settings. */
function referenceOf(scenario: MatrixScenario, { name, env, settings, git }: Environment): Promise<Reference> {
  const as: Environment = { name, env, ...(settings && { settings }), ...(git === undefined ? {} : { git }) };
  const key = `${scenario.name} ${JSON.stringify([env, settings, git])}`;
  const found = references.get(key) ?? makeReference(scenario, as);
  references.set(key, found);
  return found;
}

const makeReference = (scenario: MatrixScenario, environment: Environment): Promise<Reference> =>
  inWorld({ scenario, environment, format: "stream-json" }, async (work) => {
    const exit = await work.run([]);
    if (exit.code !== 0 || !(await work.ended())) throw new Error(`the undisturbed run failed: ${story(exit)}`);
    return {
      transcript: transcriptOf(work.world, await work.events()),
      outcome: scenario.outcome?.(work.world.project) ?? "",
    };
  });

const story = (exit: Exit): string => `code ${exit.code} signal ${exit.signal}: ${exit.stderr.slice(-600)}`;
