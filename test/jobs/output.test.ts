// Long output: what is kept of it and what is said of the rest, at every moment of a cut.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { listJobs, showJob } from "../../src/mechanisms/jobs/job-dir.ts";
import { jobOutput } from "../../src/mechanisms/jobs/output.ts";
import { scratch, testTurn } from "../turn.ts";

/** Lines of eight bytes that say where they are. */
const numbers = (bytes: number): string =>
  Array.from({ length: Math.ceil(bytes / 8) }, (_, i) => `${1_000_000 + i}\n`)
    .join("")
    .slice(0, bytes);

/** What is shown of the first `total` bytes, where a cut keeps so many of each end. */
function shown(all: string, total: number, keep: number, about = "") {
  const bytes = `${about}${total - 2 * keep} bytes`;
  return {
    text: `${all.slice(0, keep)}\n[… ${bytes} were not kept …]\n${all.slice(total - keep, total)}`,
    missing: `${bytes} of its output were not kept, only the first and the last ${keep}`,
  };
}

test("whenever a long output is looked at, both its ends are there and the number between them is right, also when who prints left the group", async () => {
  const base = scratch(onTestFinished);
  const [dir, root] = [join(base, "jobs"), join(base, "project")];
  mkdirSync(root);
  const turn = testTurn([createJobs({ dir, outputBytes: 400_000 })], { root });
  const print = "for ((i = 1; i <= 50; i++)); do seq $((980000 + 20000 * i)) $((999999 + 20000 * i)); sleep .04; done";
  await turn.call("bash", { command: `timeout 60 bash -c '${print}'`, run_in_background: true });
  const all = numbers(8_000_000);
  const told = new Set<number>();
  let total = 0;
  for (let isOver = false; !isOver; await sleep(1)) {
    const { jobId, status } = listJobs(dir)[0]!;
    isOver = status !== "running" && status !== "starting";
    const { output, missing } = showJob(dir, jobId)!;
    const gone = Number(/^(\d+) bytes/.exec(missing ?? "")?.[1] ?? 0);
    total = missing === undefined ? output.length : gone + 200_000;
    told.add(gone);
    const expected = missing === undefined ? { text: all.slice(0, total) } : shown(all, total, 100_000);
    // Compared at once: to print where they differ takes longer than the command.
    expect([missing, output === expected.text, total]).toEqual([
      (expected as { missing?: string }).missing,
      true,
      Math.min(total, all.length),
    ]);
  }
  expect(total).toBe(all.length);
  expect(told.size).toBeGreaterThan(5);
  const onDisk = statSync(join(dir, listJobs(dir)[0]!.jobId, "out")).blocks * 512;
  expect(onDisk).toBeLessThan(all.length / 2);
});

const KEEP = 4096;
/** The supervisor's own functions, with and without holes, over an output of which more and more is printed. */
const CUTS = `set -C
${readFileSync(join(import.meta.dirname, "../../src/mechanisms/jobs/cut-output.sh"), "utf8")}
kept_bytes=${KEEP} emptied_bytes=(0) hole_ends=(0) output_sizes=(0) job_groups=(0) step=100
kill() { :; }
[ "$2" = holes ] || punch_hole() { false; }
print() { head -c "$2" "$1" | tail -c +$(($(cat printed)+1)) >>job/out; echo $2 >|printed; }
echo 0 >printed
`;
/** What they find on the disk before each of their steps is what a kill there leaves. */
const STEPS = `${CUTS}set -T
trap 'case $FUNCNAME in shorten_output|announce_cut|punch_hole) step=$((step+1)); cp -a job $step ;; esac' DEBUG
for total in 40000 90000 130000; do
print "$1" $total
shorten_output 0 job $(wc -c <job/out)
done
trap - DEBUG
print "$1" 131000; cp -a job 998`;

test.each([
  ["made a hole in", "holes", ""],
  ["copied both ends of, where the file system has no holes,", "none", "about "],
])("whoever is killed at any step after it %s an output loses nothing of what is shown", (_, how, about) => {
  const dir = scratch(onTestFinished);
  const all = numbers(131_000);
  writeFileSync(join(dir, "all"), all);
  mkdirSync(join(dir, "job"));
  const ran = spawnSync("bash", ["-c", STEPS, "steps", "all", how], { cwd: dir, encoding: "utf8" });
  expect([ran.status, ran.stderr]).toEqual([0, ""]);
  const steps = readdirSync(dir).filter((name) => /^\d+$/.test(name));
  const seen = steps.map((step) => jobOutput(join(dir, step)));
  const states = [
    { text: all.slice(0, 40_000) },
    ...["", about].flatMap((word) => [40_000, 90_000, 130_000, 131_000].map((n) => shown(all, n, KEEP, word))),
  ];
  const known = (output: unknown) => states.findIndex((state) => JSON.stringify(state) === JSON.stringify(output));
  expect(steps.filter((_, i) => known(seen[i]) === -1)).toEqual([]);
  expect(steps.length).toBeGreaterThan(how === "holes" ? 12 : 60);
  expect(seen.at(-1)).toEqual(shown(all, 131_000, KEEP, about));
  // In that order, none of them twice.
  const texts = seen.map(({ text }) => text.slice(-8)).filter((end, i, ends) => end !== ends[i - 1]);
  expect(texts).toEqual([40_000, 90_000, 130_000, 131_000].map((n) => all.slice(n - 8, n)));
});

test("whoever reads while an output is emptied, where the file system has no holes, finds both ends", async () => {
  const dir = scratch(onTestFinished);
  const [all, keep] = [numbers(12_000_000), 65_536];
  writeFileSync(join(dir, "all"), all);
  mkdirSync(join(dir, "job"));
  const often = `${CUTS}kept_bytes=${keep}
sleep() { :; }
for ((total = 150000; total <= ${all.length}; total += 150000)); do
print "$1" $total
shorten_output 0 job $(wc -c <job/out)
done`;
  const cuts = spawn("bash", ["-c", often, "cuts", "all", "none"], { cwd: dir, stdio: "ignore" });
  const over = once(cuts, "exit");
  const wrong = new Set<string>();
  while (cuts.exitCode === null && cuts.signalCode === null) {
    const { text, missing } = jobOutput(join(dir, "job"));
    const [, about, gone] = /^(about )?(\d+) bytes/.exec(missing ?? "") ?? [];
    const expected =
      gone === undefined ? all.slice(0, text.length) : shown(all, Number(gone) + 2 * keep, keep, about).text;
    if (text !== expected) wrong.add(`${missing}: …${text.slice(-16)}`);
    await yieldToEventLoop();
  }
  expect([await over, [...wrong]]).toEqual([[0, null], []]);
  expect(jobOutput(join(dir, "job"))).toEqual(shown(all, all.length, keep, "about "));
});

test("an output that ended before anyone could shorten it is not read whole, however long; one that the command emptied is", () => {
  const dir = scratch(onTestFinished);
  const out = join(dir, "out");
  writeFileSync(out, "BEGIN\n");
  truncateSync(out, 5_000_000_000);
  writeFileSync(out, "END\n", { flag: "a" });
  const { text, missing } = jobOutput(dir);
  expect([text.slice(0, 6), text.slice(-5), missing]).toEqual([
    "BEGIN\n",
    "\0END\n",
    "4997902852 bytes of its output were not kept, only the first and the last 1048576",
  ]);
  spawnSync("ln", ["-s", "1048576", join(dir, "cut")]);
  writeFileSync(out, "anew\n");
  expect(jobOutput(dir)).toEqual({ text: "anew\n" });
});

test("a command that its supervisor stopped, and was killed before it let it go on, goes on", async () => {
  const base = scratch(onTestFinished);
  const [dir, root] = [join(base, "jobs"), join(base, "project")];
  mkdirSync(root);
  const turn = testTurn([createJobs({ dir })], { root });
  const result = turn.call("bash", { command: "echo one; until [ -e go ]; do sleep .01; done; echo two" });
  while (listJobs(dir)[0]?.status !== "running" || showJob(dir, listJobs(dir)[0]!.jobId)!.output === "") await sleep(5);
  const started = readFileSync(join(dir, listJobs(dir)[0]!.jobId, "started"), "utf8");
  const [worker, command] = started.split("\n").map((line) => Number.parseInt(line, 10));
  const supervisor = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${worker}/stat`, "utf8"))![1]);
  process.kill(-command!, "SIGSTOP");
  process.kill(supervisor, "SIGKILL");
  writeFileSync(join(root, "go"), "");
  expect(await result).toEqual({ content: "one\ntwo", isError: false });
});
