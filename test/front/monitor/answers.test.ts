// One question answered from several places at once: one answer counts, and each of the others is told whose. Twenty rounds in `npm run test:long`.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { ActionAnswer, Need, Overview } from "../../../src/front/monitor/api.ts";
import type { EventDetail, RowsWindow } from "../../../src/front/monitor/context-api.ts";
import { runCli, startCli } from "../../cli/cli.ts";
import { openFleet } from "../../team/fleet.ts";
import { call, seenIn } from "../../team/world.ts";
import { hasTmux, startTmux } from "../terminal/tmux.ts";
import { type RunningMonitor, scripted, startMonitor, until } from "./running-monitor.ts";

const ROUNDS = process.env.HOLDFAST_LONG === "1" ? 20 : 3;

const answered = async (answer: Promise<Response>) => (await (await answer).json()) as ActionAnswer;
const needOf = (monitor: RunningMonitor, fits: (need: Need) => boolean) =>
  until(async () => (await monitor.json<Overview>("/api/overview")).needs.find(fits), 25);

/** Who was first, as the ledger has it. */
async function answersOf(monitor: RunningMonitor, key: string): Promise<string[]> {
  const { rows } = await monitor.json<RowsWindow>(`/api/p/${key}/rows?kinds=approval&count=300`);
  return rows.filter(({ type }) => type === "approval.answered").map(({ title }) => title);
}

const TOLD = /was answered already: (?:allowed|refused), from [\w ]+; the first answer counts|is not asked any more/;

test.runIf(hasTmux)(
  "an approval answered from the page, the terminal and a command at once: one counts, the others are told",
  { timeout: 180_000 },
  async () => {
    const { opts, args } = scripted(Array.from({ length: ROUNDS }, (_, i) => `./work.sh ${i}`));
    const terminal = startTmux({ dir: opts.state, cwd: opts.cwd, args, rows: 45 });
    onTestFinished(() => terminal.close());
    await terminal.until(/^>/m);
    terminal.type("go");
    const monitor = await startMonitor(opts);
    const won: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const need = await needOf(
        monitor,
        ({ kind, title }) => kind === "approval" && title === `bash ./work.sh ${round}`,
      );
      const key = `${need.project}/c/${need.context}`;
      await terminal.until((shown) => shown.includes("[y] yes, this once") && shown.includes(`work.sh ${round}`));
      await sleep(1_700); // so long a question stands before a key answers it
      const after = (ms: number) => sleep(round % 3 === 0 ? ms : Math.random() * ms);
      const [command, page] = await Promise.all([
        runCli(["approve", need.id, "deny"], opts),
        after(400).then(() => answered(monitor.act(key, { action: "approve", id: need.id, scope: "once" }))),
        after(400).then(() => terminal.keys("y")),
      ]);
      const all = await until(async () => {
        const found = await answersOf(monitor, key);
        return found.length > round ? found : undefined;
      });
      expect(all).toHaveLength(round + 1);
      const [, what, who = ""] = /^(allowed|refused) from (.*)$/.exec(all[round]!) ?? [];
      won[who] = (won[who] ?? 0) + 1;
      const isCommand = who === "another terminal";
      const isPage = who === "the monitor page";
      expect([isCommand || isPage || who === "the terminal", who]).toEqual([true, who]);
      expect([page.ok, command.code === 0]).toEqual([isPage, isCommand]);
      if (!isPage) expect(page.says).toMatch(TOLD);
      if (!isCommand) expect(command.stderr).toMatch(TOLD);
      // The terminal shows whose word it was; its own it need not be told.
      if (who !== "the terminal") await terminal.until(`${what} from ${who}`);
    }
    console.log(`${ROUNDS} approvals answered three times each; first: ${JSON.stringify(won)}`);
    await terminal.until("finished");
    const times = fs.existsSync(path.join(opts.cwd, "times"))
      ? fs.readFileSync(path.join(opts.cwd, "times"), "utf8").trim().split("\n")
      : [];
    const allowed = (won["the monitor page"] ?? 0) + (won["the terminal"] ?? 0);
    expect(times.filter((line) => line !== "")).toHaveLength(allowed);
    expect((await monitor.json<Overview>("/api/overview")).needs).toEqual([]);
  },
);

test("a plan answered from two pages and a command at once: one counts, the others are told", {
  timeout: 120_000,
}, async () => {
  const mates = Array.from({ length: ROUNDS }, (_, i) => `mate${i}`);
  const fleet = await openFleet({
    ...{ mates, tasks: [], workers: 1 },
    script(request) {
      const { agent, last, since } = seenIn(request);
      const spawn = (name: string) => ({ name, role: "writer", prompt: `Hello ${name}`, require_plan: true });
      if (agent === "lead")
        return last === "begin" && since === 0
          ? { calls: mates.map((name) => ({ name: "spawn_teammate", input: spawn(name) })) }
          : { text: "They work." };
      return last.includes("Hello") && since === 0 ? call("submit_plan", { plan: `Plan of ${agent}` }) : { text: "ok" };
    },
  });
  onTestFinished(() => fleet.close());
  const opts = { cwd: fleet.root, state: fleet.state };
  const inState = ["--state", fleet.state];
  const monitor = await startMonitor(opts, inState);
  const seen: string[] = [];
  for (const mate of mates) {
    const need = await needOf(monitor, ({ kind, agent }) => kind === "plan" && agent === mate);
    expect(need).toMatchObject({ title: `plan of ${mate}`, text: `Plan of ${mate}` });
    const key = `${need.project}/c/${need.context}`;
    const plan = (approve: boolean, feedback: string) =>
      sleep(Math.random() * 400).then(() =>
        answered(monitor.act(key, { action: "plan", id: need.id, approve, feedback })),
      );
    const [one, other, command] = await Promise.all([
      plan(true, "from one page"),
      plan(true, "from the other"),
      runCli(["team", "approve", need.id, ...inState], opts),
    ]);
    const counted = [one.ok, other.ok, command.code === 0];
    expect([mate, counted.filter(Boolean).length]).toEqual([mate, 1]);
    seen.push(["page", "page", "command"][counted.indexOf(true)]!);
    for (const { ok, says } of [one, other])
      if (!ok) expect(says).toMatch(/was already approved by user: it is answered once/);
    if (command.code !== 0) expect(command.stderr).toMatch(/was already approved by user: it is answered once/);
  }
  console.log(`${ROUNDS} plans answered three times each; first: ${seen.join(", ")}`);
  const reviews = (await fleet.events()).filter(({ type }) => type === "plan.reviewed");
  expect(reviews).toHaveLength(ROUNDS);
});

test("what was answered is in the ledger with where it came from", async () => {
  const { opts, args } = scripted(["./work.sh 1"]);
  const turn = startCli(["-p", "go", ...args, "--approvals", "wait"], opts);
  const monitor = await startMonitor(opts);
  const need = await needOf(monitor, ({ kind }) => kind === "approval");
  const key = `${need.project}/c/${need.context}`;
  const first = await answered(
    monitor.act(key, { action: "approve", id: need.id, scope: "no", reason: "not <b>now</b>" }),
  );
  expect(first).toEqual({ ok: true, says: "refused" });
  await turn.exited;
  const { rows } = await monitor.json<RowsWindow>(`/api/p/${key}/rows?kinds=approval&count=300`);
  const last = rows.at(-1)!;
  const { sections } = await monitor.json<EventDetail>(`/api/p/${key}/event/${last.seq}`);
  expect(last.title).toContain("refused from the monitor page");
  expect(JSON.parse(sections[0]!.text)).toMatchObject({ decision: "deny", reason: "not <b>now</b>" });
  expect(fs.existsSync(path.join(opts.cwd, "times"))).toBe(false);
});
