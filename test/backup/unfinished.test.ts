// A restore that was killed, as a user finds it: what reads says so, what writes is refused, and the same command goes on with the same backup.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type CliOptions, runCli } from "../cli/cli.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { folder } from "./world.ts";

interface Place extends CliOptions {
  dir: string;
}

function place(env: Record<string, string> = {}): Place {
  const dir = fs.realpathSync(folder(onTestFinished));
  fs.mkdirSync(path.join(dir, "project"));
  return { dir, cwd: path.join(dir, "project"), state: path.join(dir, "home"), env };
}

async function done(opts: CliOptions, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, opts);
  expect([args.join(" "), code, stderr]).toEqual([args.join(" "), 0, stderr]);
  return stdout;
}

/** A project with two ledgers, backed up; and another that was killed while it was restored there. */
async function halfRestored(env: Record<string, string> = {}) {
  const original = place();
  const at = path.join(original.dir, "backups");
  await done(original, ["-p", "list Markdown files", "--model", "rehearsal"]);
  await done(original, ["tasks", "add", "something"]);
  const { manifest, ledgers } = JSON.parse(await done(original, ["backup", "now", at, "--json"]));
  const [project] = fs.readdirSync(path.join(at, "projects"));
  const twin = place(env);
  const restore = ["backup", "restore", at, "--project", project!];
  const killed = await runCli(restore, { ...twin, env: { ...env, HOLDFAST_CRASH_AT: "restore.ledger:1" } });
  expect([killed.signal, ledgers]).toEqual(["SIGKILL", 2]);
  return { original, twin, at, project: project!, manifest, restore };
}

const NOT_ENDED = /^holdfast: a restore into this store has not ended: .* (holdfast backup restore .*)\n/;

async function staysProtected(env: Record<string, string> = {}): Promise<void> {
  const { twin } = await halfRestored(env);
  for (const reading of [
    ["contexts", "ls"],
    ["tasks", "ls"],
    ["contexts", "verify"],
  ])
    expect([reading, await runCli(reading, twin)]).toMatchObject([
      reading,
      { stderr: expect.stringMatching(NOT_ENDED) },
    ]);
  const found = await runCli(["doctor"], twin);
  expect(found.stdout).toMatch(/a restore into this store has not ended[\s\S]*holdfast backup restore /);
  for (const writing of [
    ["tasks", "add", "one that would be in the way"],
    ["-p", "list Markdown files", "--model", "rehearsal"],
    ["backup", "now", path.join(twin.dir, "elsewhere")],
  ]) {
    const refused = await runCli(writing, twin);
    expect([writing, refused.code, refused.stderr]).toEqual([writing, 4, expect.stringMatching(NOT_ENDED)]);
    expect(refused.stderr).toMatch(/it can only be read\n/);
  }
  const { stderr } = await runCli(["tasks", "ls"], twin);
  const [program, ...words] = NOT_ENDED.exec(stderr)![1]!.split(" ");
  expect(program).toEqual("holdfast");
  expect(await done({ ...twin, cwd: twin.dir }, words)).toMatch(
    /^Restored backup .*\nIt was begun before, and went on\n/,
  );
  expect(JSON.parse(await done(twin, ["tasks", "ls", "--json"]))).toHaveLength(1);
  await done(twin, ["tasks", "add", "what comes afterwards"]);
  expect((await runCli(["tasks", "ls"], twin)).stderr).not.toMatch(/restore/);
}

test(
  "a store that is restored in part says so to whoever reads, and takes nothing from whoever writes, until the printed command has ended it",
  () => staysProtected(),
  60_000,
);

test.runIf(hasRedis())(
  "so does one on a server",
  async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    await staysProtected({ HOLDFAST_STATE: server.url("twin") });
  },
  60_000,
);

test("a restore that was killed goes on with its own backup, though a newer one has come, and says so", async () => {
  const { original, twin, at, manifest, restore } = await halfRestored();
  await done(original, ["tasks", "add", "one more"]);
  const newer = JSON.parse(await done(original, ["backup", "now", at, "--json"])).manifest;
  const other = await runCli([...restore, "--at", newer], twin);
  expect([other.code, other.stderr]).toEqual([
    4,
    expect.stringMatching(/has not ended in this store.*: go on without --at/),
  ]);
  const text = await done(twin, restore);
  expect(text).toMatch(new RegExp(`^Restored backup ${manifest} `));
  expect(text).toMatch(new RegExp(`^It was begun before, and went on: a newer backup, ${newer}, is there: `, "m"));
  expect(JSON.parse(await done(twin, ["tasks", "ls", "--json"]))).toHaveLength(1);
}, 60_000);

test("a restore that is killed when everything is there is ended by the next", async () => {
  const { twin, restore } = await halfRestored();
  const killed = await runCli(restore, { ...twin, env: { HOLDFAST_CRASH_AT: "restore.ended" } });
  expect(killed.signal).toEqual("SIGKILL");
  await done(twin, restore);
  await done(twin, ["tasks", "add", "what comes afterwards"]);
}, 60_000);

test("schedules of a restored backup can be had again, also when the restore was killed before it printed them; one that is past is said as past", async () => {
  const original = place();
  const at = path.join(original.dir, "backups");
  const once = JSON.parse(await done(original, ["cron", "add", "in 1 seconds", "say hello", "--json"]));
  const daily = JSON.parse(await done(original, ["cron", "add", "0 9 * * *", "say good morning", "--json"]));
  await done(original, ["backup", "now", at]);
  const [project] = fs.readdirSync(path.join(at, "projects"));
  const twin = place();
  const restore = ["backup", "restore", at, "--project", project!];
  const killed = await runCli(restore, { ...twin, env: { HOLDFAST_CRASH_AT: "restore.ended" } });
  expect(killed.signal).toEqual("SIGKILL");
  await sleep(1_000); // the time of the first
  for (const text of [await done(twin, restore), await done(twin, ["backup", "schedules"])]) {
    expect(text).toMatch(/^1 schedule can be set here/m);
    expect(text).toMatch(
      new RegExp(`^ {2}holdfast cron add '0 9 \\* \\* \\*' 'say good morning' -r ${daily.context} `, "m"),
    );
    expect(text).toMatch(new RegExp(`^passed at \\S+, in ${once.context}: say hello$`, "m"));
  }
  const listed = JSON.parse(await done(twin, ["backup", "schedules", "--json"]));
  expect(listed.map(({ prompt, command }: Record<string, string>) => [prompt, command === undefined])).toEqual(
    expect.arrayContaining([
      ["say hello", true],
      ["say good morning", false],
    ]),
  );
}, 60_000);
