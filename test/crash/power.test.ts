// Power loss: the state as a disk could hold it at any point of a run still opens, and holds all that was acknowledged.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { emptyCounts, LONG, LONG_MS, publish } from "./counts.ts";
import { lookAt, openWorld, random, type World } from "./driver.ts";
import { type Mode, materialize, type Recording, readRecording, recordTo } from "./power.ts";
import { type Scenario, scenario } from "./scenarios.ts";
import { hasStrace } from "./strace.ts";

interface Loss {
  upTo: number;
  mode: Mode;
  seed: number;
}

const MODES: Mode[] = LONG ? ["dropped", "kept", "torn", "torn", "torn", "torn"] : ["dropped", "torn"];

async function recorded(world: World, one: Scenario): Promise<Recording> {
  const log = path.join(world.dir, "writes.log");
  const exit = await world.run(["-p", one.prompt], { wrap: recordTo(log) });
  if (exit.code !== 0) throw new Error(`the recorded run failed: ${exit.stderr}`);
  return readRecording(log, world.dir);
}

/** Events that a commit had returned for when step `upTo` began. */
async function floorOf(world: World, recording: Recording): Promise<(upTo: number) => StoredEvent[]> {
  const floors: { at: number; events: StoredEvent[] }[] = [];
  for (const at of recording.commits) {
    const look = await lookAt(disk(world, recording, { upTo: at, mode: "kept", seed: 1 }));
    floors.push({ at, events: look.contexts[0]?.events ?? [] });
  }
  return (upTo) => floors.findLast((f) => f.at <= upTo)?.events ?? [];
}

/** The state directory on a disk that lost its power there. */
function disk(world: World, recording: Recording, { upTo, mode, seed }: Loss): string {
  const target = path.join(world.dir, "disk");
  fs.rmSync(target, { recursive: true, force: true });
  materialize(recording, { upTo, mode, rnd: random(seed), folder: world.dir, target });
  return path.join(target, path.relative(world.dir, world.stateDir));
}

function lossesOf(recording: Recording): Loss[] {
  const every = LONG ? 1 : 7;
  const points = recording.steps.map((_, i) => i + 1).filter((i) => i % every === 0);
  return points.flatMap((upTo) => MODES.map((mode, i) => ({ upTo, mode, seed: upTo * 10 + i })));
}

/** What the model had been shown by then is acknowledged, whatever the syncs say. */
function shownBy(world: World, recording: Recording, upTo: number): Record<string, number> {
  const asked = recording.asks.filter((at) => at <= upTo).length;
  if (asked === 0) return {};
  const { round, body } = world.server.log().requests[asked - 1]!;
  const results = body.messages.filter((m: { role: string }) => m.role === "tool").length;
  return { "input.received": 1, "reply.received": round, "tool.finished": results };
}

async function loseAndLook(world: World, recording: Recording, loss: Loss, floor: StoredEvent[]): Promise<string[]> {
  const label = `step ${loss.upTo} of ${recording.steps.length} ${loss.mode} seed ${loss.seed}`;
  const look = await lookAt(disk(world, recording, loss));
  const events = look.contexts[0]?.events ?? [];
  const notes = look.damage.map((what) => `${label}: damaged: ${what}`);
  if (JSON.stringify(events.slice(0, floor.length)) !== JSON.stringify(floor))
    notes.push(`${label}: lost: ${events.length} events, ${floor.length} were acknowledged`);
  for (const [type, least] of Object.entries(shownBy(world, recording, loss.upTo))) {
    const held = events.filter((e) => e.type === type).length;
    if (held < least) notes.push(`${label}: lost: ${held} ${type}, the model had been shown ${least}`);
  }
  return notes;
}

/** The same state, taken up by the command line. */
async function loseAndResume(world: World, one: Scenario, recording: Recording, loss: Loss): Promise<string[]> {
  fs.rmSync(world.stateDir, { recursive: true, force: true });
  // The same folder, as after a power loss: another one at its place would be another project.
  for (const name of fs.readdirSync(world.project)) fs.rmSync(path.join(world.project, name), { recursive: true });
  one.setUp?.(world.project);
  materialize(recording, { ...loss, rnd: random(loss.seed), folder: world.dir, target: world.dir });
  const label = `resume after step ${loss.upTo} ${loss.mode} seed ${loss.seed}`;
  const context = (await world.look()).contexts[0];
  const told = context?.events.some((e) => e.type === "input.received");
  const exit = await world.run(["-p", ...(context ? ["-r", context.id] : []), ...(told ? [] : [one.prompt])]);
  if (exit.code !== 0) return [`${label}: ${exit.stderr}`];
  const after = await world.look();
  const ends = after.contexts[0]?.events.filter((e) => e.type === "turn.ended") ?? [];
  const whole = ends.length === 1 && (ends[0]!.data as { reason: string }).reason === "done";
  const notes = whole && after.contexts.length === 1 ? [] : [`${label}: ended ${ends.length} times`];
  for (const [name, content] of Object.entries(one.files)) {
    const file = path.join(world.project, name);
    const is = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
    if (is !== content) notes.push(`${label}: ${name} holds ${JSON.stringify(is)}`);
  }
  return [...notes, ...after.damage.map((d) => `${label}: ${d}`)];
}

test.runIf(hasStrace)(
  "after a power loss at any write everything acknowledged is there, whole, and can be taken up",
  { timeout: LONG ? LONG_MS : 60_000 },
  async () => {
    const found: string[] = [];
    for (const name of LONG ? ["text", "read_file", "todo_write", "write_file"] : ["write_file"]) {
      const one = scenario(name);
      const world = await openWorld(one.rounds);
      try {
        one.setUp?.(world.project);
        const recording = await recorded(world, one);
        expect(recording.asks.length).toBe(one.rounds.length);
        const floor = await floorOf(world, recording);
        const losses = lossesOf(recording);
        const notes: string[] = [];
        for (const loss of losses) notes.push(...(await loseAndLook(world, recording, loss, floor(loss.upTo))));
        const resumed = losses.filter((_, i) => i % (LONG ? 5 : 9) === 0);
        for (const loss of resumed) notes.push(...(await loseAndResume(world, one, recording, loss)));
        const invalid = world.server.log().invalid.map((i) => JSON.stringify(i));
        const counts = { ...emptyCounts(), cells: losses.length + resumed.length, kills: losses.length };
        counts.notes.push(...notes, ...invalid);
        counts.faults.lost = notes.length;
        counts.faults.invalidTranscripts = invalid.length;
        publish(`power loss at each write · ${name} (${resumed.length} of them resumed)`, counts);
        found.push(...counts.notes);
      } finally {
        await world.close();
      }
    }
    expect(found).toEqual([]);
  },
);
