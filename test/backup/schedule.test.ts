// What `backup schedule` prints: the line works in a crontab as it stands, backs up this very store, and says what a crontab cannot.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { crontabTime, crontabVariable } from "../../src/cli/crontab.ts";
import { bin, type CliOptions, runCli } from "../cli/cli.ts";
import { folder } from "./world.ts";

const place = (env: Record<string, string> = {}): CliOptions & { dir: string } => {
  const dir = fs.realpathSync(folder(onTestFinished));
  fs.mkdirSync(path.join(dir, "project"));
  return { dir, cwd: path.join(dir, "project"), state: path.join(dir, "home"), env };
};

const scheduled = async (opts: CliOptions, ...args: string[]) => {
  const { code, stdout, stderr } = await runCli(["backup", "schedule", ...args, "--json"], opts);
  expect([code, stderr]).toEqual([0, stderr]);
  return { ...JSON.parse(stdout), stderr };
};

describe("backup schedule", () => {
  it("prints lines that back up the store of $HOLDFAST_STATE where nothing of this shell is set", async () => {
    const opts = place();
    const store = path.join(opts.dir, "100% mine");
    const there = { ...opts, env: { HOLDFAST_STATE: store } };
    expect(await runCli(["tasks", "add", "something"], there)).toMatchObject({ code: 0 });
    const at = path.join(opts.dir, "backups");
    const { crontab, variables } = await scheduled(there, at);
    expect(variables).toEqual(expect.arrayContaining([`HOLDFAST_STATE=${store}`, `XDG_STATE_HOME=${opts.state}`]));
    // As cron does it: variables as they stand, `\%` is `%`, the rest goes to sh with hardly a PATH.
    const env = Object.fromEntries(
      variables.map((one: string) => [one.split("=")[0], one.slice(one.indexOf("=") + 1)]),
    );
    const command = crontab.replace(/^(?:\S+ ){5}/, "").replaceAll("\\%", "%");
    const ran = spawnSync("/bin/sh", ["-c", command], { cwd: "/", env: { PATH: "/usr/bin:/bin", ...env } });
    expect([ran.status, String(ran.stderr)]).toEqual([0, ""]);
    expect(String(ran.stdout)).toMatch(/1 ledger in all/);
    expect(command).toContain(`${process.execPath} ${bin} backup now`);
  }, 30_000);

  it("shows nothing of a user and a password in the endpoint of a bucket, and refuses it, as `now` does", async () => {
    const env = {
      AWS_ENDPOINT_URL: "http://me:hush-hush@127.0.0.1:1",
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
    };
    const opts = place(env);
    const said = [];
    for (const verb of ["schedule", "now"]) said.push(await runCli(["backup", verb, "s3://bucket/x"], opts));
    expect(said.map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual(
      Array(2).fill([
        2,
        "",
        expect.stringMatching(/^holdfast: AWS_ENDPOINT_URL holds a user, a password or settings, which(?!.*hush)/),
      ]),
    );
  }, 30_000);

  it("names the key in the line and in the settings, and says which secrets it leaves out", async () => {
    const opts = place({ HOLDFAST_STATE: "redis://me:hush-hush@127.0.0.1:1/0?project=p" });
    const key = path.join(opts.dir, "key");
    fs.writeFileSync(key, "long enough to be a key\n");
    const at = "s3://bucket/some/where/";
    const withFile = await scheduled(opts, at, "--key-file", key);
    expect(withFile.command).toMatch(`backup now s3://bucket/some/where --key-file ${key} --cwd ${opts.cwd}`);
    expect(withFile.settings.backup).toMatchObject({ place: "s3://bucket/some/where", keyFile: key });
    expect(withFile.variables).toEqual(
      expect.arrayContaining([
        "HOLDFAST_STATE=redis://me:…@127.0.0.1:1/0?project=p",
        "AWS_ACCESS_KEY_ID=…",
        "AWS_SECRET_ACCESS_KEY=…",
        "AWS_REGION=…",
      ]),
    );
    const secret = { ...opts, env: { ...opts.env, HOLDFAST_BACKUP_KEY: "hush-hush-hush-hush" } };
    const { stdout, stderr } = await runCli(["backup", "schedule", at], secret);
    expect(stdout).toMatch(/^ {2}HOLDFAST_BACKUP_KEY=…$/m);
    expect(stdout).toMatch(/^Put in where … stands: the password in HOLDFAST_STATE, HOLDFAST_BACKUP_KEY .*--key-file/m);
    expect(`${stdout}${stderr}`).not.toContain("hush-hush");
    const byFlag = await scheduled({ ...opts, env: {} }, at, "--state", "redis://me:hush-hush@127.0.0.1:1/0");
    expect(byFlag.command).not.toContain("--state");
    expect(byFlag.variables).toContain("HOLDFAST_STATE=redis://me:…@127.0.0.1:1/0");
  }, 30_000);

  it("says what a crontab cannot, and what can", async () => {
    const opts = place();
    const at = path.join(opts.dir, "backups");
    const uneven = await scheduled(opts, at, "--every", "90m");
    expect(uneven.crontab).toMatch(/^0 \*\/2 \* \* \* /);
    expect(uneven.stderr).toMatch(
      `holdfast: a crontab cannot say 90m: every 2 h; \`holdfast backup run ${at} --every 90m --cwd ${opts.cwd}\` can`,
    );
    expect((await scheduled(opts, at, "--every", "15m")).stderr).toBe("");
  }, 30_000);
});

describe("a crontab", () => {
  it.each([
    [10_000, "*/1 * * * *", "1 min", false],
    [60_000, "*/1 * * * *", "1 min", true],
    [7 * 60_000, "*/6 * * * *", "6 min", false],
    [3_600_000, "0 */1 * * *", "1 h", true],
    [5 * 3_600_000, "0 */6 * * *", "6 h", false],
    [86_400_000, "0 3 * * *", "day", true],
    [2 * 86_400_000, "0 3 * * *", "day", false],
    [7 * 86_400_000, "0 3 * * 0", "week", true],
  ])("says %i ms as %s", (ms, when, says, isExact) => {
    expect(crontabTime(ms)).toEqual({ when, says, isExact });
  });

  it("keeps the blanks and quotes of a value only between quotes", () => {
    expect(crontabVariable("A", " b")).toBe('A=" b"');
    expect(crontabVariable("A", "b c")).toBe("A=b c");
  });
});
