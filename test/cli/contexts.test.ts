import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { tempDir } from "../house.ts";
import { runCli } from "./cli.ts";

let cwd: string;
let state: string;

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
  fs.writeFileSync(path.join(cwd, "a.py"), "print(1)\n");
});
afterEach(() => {
  fs.rmSync(cwd, { recursive: true, force: true });
  fs.rmSync(state, { recursive: true, force: true });
});

const cli = (...args: string[]) => runCli(args, { cwd, state });
const ledgerFile = () => {
  const projects = path.join(state, "holdfast/projects");
  return path.join(projects, fs.readdirSync(projects)[0]!, "ledger.db");
};
const listed = async () =>
  JSON.parse((await cli("contexts", "ls", "--json")).stdout) as { id: string; title: string; status: string }[];

describe("holdfast contexts", () => {
  it("lists what happened here, newest first, and shows one with its events", async () => {
    await cli("-p", "list Python files");
    await cli("-p", "list Markdown files");
    const all = await listed();
    expect(all.map(({ title, status }) => ({ title, status }))).toEqual([
      { title: "list Markdown files", status: "completed" },
      { title: "list Python files", status: "completed" },
    ]);
    const shown = JSON.parse((await cli("contexts", "show", all[1]!.id, "--json")).stdout);
    expect(shown).toMatchObject({
      id: all[1]!.id,
      readOnly: null,
      problems: [],
      agents: { lead: { rounds: 2, pending: [] } },
    });
    expect(shown.events.at(-1)).toMatchObject({ type: "turn.ended", data: { reason: "done" } });
    expect((await cli("contexts", "show", all[1]!.id)).stdout).toContain("● glob");
  });

  it("verify says sound, and after one flipped bit names the ledger and the seq; others go on; repair mends it", async () => {
    await cli("-p", "run `echo flipped`");
    await cli("-p", "list Python files");
    expect((await cli("contexts", "verify")).code).toBe(0);
    const file = ledgerFile();
    const bytes = fs.readFileSync(file);
    const said = '"text":"run `echo flipped`"';
    for (let at = bytes.indexOf(said); at >= 0; at = bytes.indexOf(said, at + 1)) bytes[at + 20]! ^= 1;
    fs.writeFileSync(file, bytes);
    const hurt = (await listed()).find((c) => c.title.includes("flipped"))!;
    const verified = await cli("contexts", "verify", "--json");
    expect([verified.code, JSON.parse(verified.stdout).damage]).toEqual([
      1,
      [expect.objectContaining({ ledger: hurt.id, seq: 3 })],
    ]);
    const refused = await cli("-p", "-r", hurt.id, "more", "--model", "rehearsal");
    expect([refused.code, refused.stderr.trim().split("\n").length]).toEqual([1, 1]);
    expect(refused.stderr).toContain("--repair");
    const other = (await listed()).find((c) => c.title.includes("Python"))!;
    expect((await cli("-p", "-r", other.id, "list Python files")).stdout).toContain("a.py");
    expect((await cli("contexts", "verify", "--repair")).stdout).toContain("no event was lost");
    expect((await cli("contexts", "verify")).code).toBe(0);
    expect((await cli("-p", "-r", hurt.id, "list Python files")).stdout).toContain("a.py");
  });

  it("verify calls a context sound while somebody works in it", async () => {
    await cli("-p", "list Python files");
    const { id } = (await listed())[0]!;
    const store = await openSqliteStore(ledgerFile());
    const event = { type: "error.logged", actor: "lead", data: { message: "one more" } };
    let over = false;
    const working = (async () => {
      for (; !over; await sleep(1)) await store.append([{ ledger: id, events: [event] }]);
    })();
    const found = [];
    for (let i = 0; i < 3; i++) found.push(await cli("contexts", "verify", "--json"));
    over = true;
    await working;
    await store.close();
    expect(found.map(({ code, stdout }) => [code, JSON.parse(stdout).damage])).toEqual([
      [0, []],
      [0, []],
      [0, []],
    ]);
  });

  it("-c goes on with the newest context, also when the clock was set back before it", async () => {
    await cli("-p", "list Python files");
    const clock = path.join(state, "clock.cjs");
    fs.writeFileSync(clock, "const now = Date.now; Date.now = () => now() - 7_200_000;");
    const env = { NODE_OPTIONS: `--require ${clock}` };
    await runCli(["-p", "list Markdown files"], { cwd, state, env });
    expect((await listed()).map(({ title }) => title)).toEqual(["list Markdown files", "list Python files"]);
    const gone = await runCli(["-p", "-c"], { cwd, state, env });
    expect(gone.stderr).toContain((await listed())[0]!.id);
  });

  it("repair brings all contexts back when the head of the file is gone", async () => {
    await cli("-p", "list Python files");
    const before = await listed();
    const fd = fs.openSync(ledgerFile(), "r+");
    fs.writeSync(fd, Buffer.alloc(6 * 4096), 0, 6 * 4096, 0);
    fs.closeSync(fd);
    const read = await cli("contexts", "ls", "--json");
    expect([read.code, JSON.parse(read.stdout)]).toEqual([0, before]);
    const repaired = await cli("contexts", "verify", "--repair", "--json");
    expect([repaired.code, JSON.parse(repaired.stdout)]).toEqual([0, expect.objectContaining({ ledgers: 1, lost: 0 })]);
    expect(await listed()).toEqual(before);
    expect((await cli("-p", "-c", "list Python files")).stdout).toContain("a.py");
  });

  it("opens what a newer Holdfast wrote read-only and says to upgrade, event or file", async () => {
    await cli("-p", "list Python files");
    const { id } = (await listed())[0]!;
    const store = await openSqliteStore(ledgerFile());
    await store.append([{ ledger: id, events: [{ type: "hologram.projected", v: 1, actor: "lead", data: {} }] }]);
    await store.close();
    const event = await cli("-p", "-r", id, "more");
    expect([event.code, event.stderr]).toEqual([1, expect.stringContaining("upgrade")]);
    const db = new DatabaseSync(ledgerFile());
    db.exec("PRAGMA user_version = 999");
    db.close();
    const file = await cli("-p", "list Python files");
    expect([file.code, file.stderr]).toEqual([1, expect.stringContaining("upgrade")]);
    expect((await listed()).map((c) => c.id)).toEqual([id]);
  });

  it("keeps state out of the repository and private", async () => {
    await cli("-p", "list Python files");
    expect(fs.readdirSync(cwd)).toEqual(["a.py"]);
    expect(fs.statSync(ledgerFile()).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(ledgerFile())).mode & 0o777).toBe(0o700);
  });
});

describe("holdfast doctor and jobs", () => {
  it("say what works here, as text and as json", async () => {
    const doctor = JSON.parse((await cli("doctor", "--json")).stdout);
    expect(doctor.findings.map((f: { what: string }) => f.what)).toEqual([
      "runtime",
      "sqlite",
      "state",
      "model",
      "bash",
      "git",
      "processes",
      "sandbox",
      "network",
      "settings",
    ]);
    expect((await cli("doctor")).stdout).toContain("rehearsal");
  });

  it("names what is wrong with entries of MCP servers, and a prompt does too", async () => {
    fs.writeFileSync(path.join(cwd, ".mcp.json"), '{"mcpServers":{"a":{"type":"carrier-pigeon"},"b":{}}}\n');
    await cli("trust", "add");
    const says =
      '.mcp.json: MCP servers: a has the type "carrier-pigeon" (stdio, http and sse are known), and is left out; b has no command, and is left out';
    const { code, stdout } = await cli("doctor", "--json");
    expect([code, JSON.parse(stdout).findings.at(-1)]).toEqual([
      0,
      { what: "mcp", ok: false, warning: true, says, do: "mend the file" },
    ]);
    expect((await cli("-p", "Read .mcp.json")).stderr).toContain(`holdfast: ${says}\n`);
  });

  it("list, show and kill a job of a harness that is gone", async () => {
    await cli("-p", "Run `echo begun; sleep 300` in the background");
    const [job] = JSON.parse((await cli("jobs", "ls", "--json")).stdout);
    expect(job).toMatchObject({ status: "running", command: "echo begun; sleep 300", cwd });
    expect((await cli("jobs", "show", job.jobId)).stdout).toContain("begun");
    expect((await cli("jobs", "kill", job.jobId)).stdout).toBe(`killed ${job.jobId}\n`);
    expect(JSON.parse((await cli("jobs", "ls", "--json")).stdout)[0].status).toBe("killed");
    expect((await cli("jobs", "kill", "job_none")).code).toBe(2);
  });
});
