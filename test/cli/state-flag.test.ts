// What --state was given, where it is a mistake, and in the commands that are printed.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parseCommandLine } from "../../src/cli/parse.ts";
import { openHome } from "../../src/contexts/project.ts";
import { passwordLeftOut } from "../../src/ledger/server-address.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { type CliOptions, runCli } from "./cli.ts";

const place = (env: Record<string, string> = {}): CliOptions & { dir: string } => {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-state-")));
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  fs.mkdirSync(path.join(dir, "project"));
  return { dir, cwd: path.join(dir, "project"), state: path.join(dir, "home"), env };
};

it("an empty --state, and one that names no file, is refused in one line and makes nothing", async () => {
  const opts = place();
  const given = [["--state", ""], ["--state="], ["--state", "sqlite:"], ["--state", "file:"]];
  const said = [];
  for (const words of given) said.push(await runCli(["tasks", "add", "x", ...words], opts));
  const folderNamed = await runCli(["tasks", "add", "x", "--state", `sqlite:${opts.cwd}`], opts);
  expect([...said, folderNamed].map(({ code, stderr }) => [code, stderr.split("\n").length])).toEqual(
    Array(5).fill([2, 2]),
  );
  expect(said[0]!.stderr).toMatch(/^holdfast: --state was given nothing \(a variable that is not set\?\): give DIR/);
  expect(said[2]!.stderr).toMatch(/^holdfast: the state is to be in "sqlite:", which names no place/);
  expect(folderNamed.stderr).toMatch(/is a folder: give sqlite:FILE/);
  expect(fs.readdirSync(opts.dir)).toEqual(["project"]);
  expect(fs.readdirSync(opts.cwd)).toEqual([]);
});

it("a mistyped address of a server makes no folder of that name, and nothing of it is printed", async () => {
  const opts = place();
  const given = ["rediss//:SECRET@host/0", "redis;//:SECRET@host", "redis://:SEC@SECRET@127.0.0.1:1/0?project=p"];
  const said = [];
  for (const state of given) {
    said.push(await runCli(["tasks", "add", "x", "--state", state], opts));
    said.push(await runCli(["tasks", "add", "x"], { ...opts, env: { HOLDFAST_STATE: state } }));
    said.push(await runCli(["state", "copy", state, path.join(opts.dir, "to")], opts));
  }
  expect(said.map(({ code, stdout, stderr }) => [code, stdout, stderr.split("\n").length, /SEC/.test(stderr)])).toEqual(
    Array(9).fill([2, "", 2, false]),
  );
  expect([fs.readdirSync(opts.dir), fs.readdirSync(opts.cwd)]).toEqual([["project"], []]);
}, 30_000);

it("an empty $HOLDFAST_STATE counts as not set", () => {
  expect(openHome({ env: { HOLDFAST_STATE: "", XDG_STATE_HOME: "/x" } })).toEqual({ home: "/x/holdfast" });
  expect(() => openHome({ state: "" })).toThrow(expect.objectContaining({ code: "invalid" }));
});

it("a password is left out of an address, wherever it stands", () => {
  expect(
    [
      "redis://u:p@h:1/0?project=a",
      "redis://:p:q@h",
      "redis://h:6379/0",
      "redis+sentinel://u:p@h:1/m?sentinel-password=x&project=a",
    ].map((one) => passwordLeftOut(one, "…")),
  ).toEqual([
    "redis://u:…@h:1/0?project=a",
    "redis://:…@h",
    "redis://h:6379/0",
    "redis+sentinel://u:…@h:1/m?sentinel-password=…&project=a",
  ]);
});

it("printed commands name the state and the folder that were given", async () => {
  const opts = place();
  const state = path.join(opts.dir, "elsewhere");
  const at = `--cwd ${opts.cwd} --state ${state}`;
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await runCli([...args, "--state", state], opts);
    return stdout + stderr;
  };
  expect(await run("cron", "add", "in 2 hours", "say hello")).toMatch(
    `It fires while a host runs: holdfast worker ${at}\n`,
  );
  expect(await run("cron", "rm", "cron_none")).toMatch(`see \`holdfast cron ls ${at}\``);
  expect(await run("tasks", "ls")).toBe(`No tasks: add one with holdfast tasks add 'what to do' ${at}\n`);
  expect(await run("team", "ls")).toBe(`There is no team: \`holdfast -p ${at} "…" --stay\` can build one.\n`);
}, 30_000);

it.runIf(hasRedis())(
  "where a password came by the flag, it is said once how the printed commands get it",
  async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const state = server.url("p").replace("redis://", "redis://default:hush@");
    const { hostname, port } = new URL(state);
    const added = (env: Record<string, string>) =>
      runCli(["cron", "add", "in 2 hours", "say hello", "--state", state], place(env));
    const { stdout, stderr } = await added({});
    expect(stdout).toMatch(/holdfast worker --cwd \S+ --state "\$HOLDFAST_STATE"\n/);
    expect(stderr.match(/export HOLDFAST_STATE=.*/g)).toEqual([
      expect.stringContaining(`export HOLDFAST_STATE='redis://default:PASSWORD@${hostname}:${port}`),
    ]);
    expect(stdout + stderr).not.toContain("hush");
    expect((await added({ HOLDFAST_STATE: state })).stderr).not.toContain("export");
  },
  30_000,
);

it("a time without its unit is refused", () => {
  expect(() => parseCommandLine(["worker", "--drain", "2"])).toThrow(
    '--drain takes a time such as 30s, 5m or 1h, not "2"',
  );
  expect(parseCommandLine(["worker", "--drain", "2s"])).toMatchObject({ flags: { drain: 2_000 } });
});
