// `holdfast replay` and `contexts export --as-test` as a user runs them; and what they do not do: no network, no process, no write.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import { replays } from "../../src/testing/replays.ts";
import { bin, runCli, runProgram } from "../cli/cli.ts";
import { hasStrace } from "../crash/strace.ts";
import { scratch } from "../turn.ts";

const SECRET = "sk-live-5f2c9a7be1d04c6f8a3b";

async function recorded() {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  fs.writeFileSync(path.join(opts.cwd, "key.txt"), `the key is ${SECRET}\n`);
  const server = await startModelServer({
    script: [{ calls: [{ name: "read_file", input: { path: "key.txt" } }] }, { text: "It is there." }],
  });
  onTestFinished(() => server.close());
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: "unused" };
  const run = (args: string[], more: Record<string, string> = {}) =>
    runCli(args, { ...opts, env: { ...env, ...more } });
  const { code, stderr } = await run(["-p", "what is in key.txt?", "--model", "openai-compatible/mock"]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const [context] = JSON.parse((await run(["contexts", "ls", "--json"])).stdout);
  return { opts, run, id: context.id as string };
}

test("a context is replayed by its id, all of them by --all, and a fixture without secrets replays in a test", async () => {
  const { opts, run, id } = await recorded();
  const one = await run(["replay", id]);
  expect([one.code, one.stdout]).toEqual([
    0,
    expect.stringMatching(`^${id}: \\d+ events, \\d+ compared, 0 differences\n$`),
  ]);
  const all = await run(["replay", "--all", "--since", "30d", "--json"]);
  expect([all.code, JSON.parse(all.stdout)]).toEqual([
    0,
    [{ context: id, events: expect.any(Number), compared: expect.any(Number), differences: [], unknown: [] }],
  ]);
  for (const bad of [
    ["replay"],
    ["replay", id, "--all"],
    ["replay", "--all", "--since", "soon"],
    ["replay", "nonesuch"],
  ])
    expect([bad, (await run(bad)).code]).toEqual([bad, 2]);

  const file = path.join(opts.cwd, "fixture.jsonl");
  const exported = await run(["contexts", "export", "--as-test", id, file], { MY_API_KEY: SECRET });
  expect([exported.code, exported.stderr]).toEqual([0, ""]);
  const text = fs.readFileSync(file, "utf8");
  expect([text.includes(SECRET), text.includes("[redacted MY_API_KEY]")]).toEqual([false, true]);
  expect((await replays(file)).compared).toBeGreaterThan(5);

  // Somebody's later version says something else there.
  fs.writeFileSync(file, text.replace("It is there.", "It is here."));
  await expect(replays(file)).rejects.toThrow(
    /event \d+ \(turn\.ended, text\) of lead: decision; seam stop, mechanism loop/,
  );
  const said = await replays(file).then(String, (error: Error) => error.message);
  const seq = Number(/event (\d+)/.exec(said)![1]);
  fs.writeFileSync(
    file.replace(".jsonl", ".expected.json"),
    JSON.stringify([{ seq, kind: "decision", mechanism: "loop", why: "said otherwise since 0.2" }]),
  );
  await replays(file);
});

test("a recording in a file is replayed as a test does: what differs is said, but for what is listed beside it", async () => {
  const { opts, run, id } = await recorded();
  const file = path.join(opts.cwd, "saved.jsonl");
  await run(["contexts", "export", "--as-test", id, file]);
  const [there, elsewhere] = [await run(["replay", file]), { cwd: opts.cwd, state: scratch(onTestFinished) }];
  expect([there.code, there.stdout, there.stderr]).toEqual([
    0,
    expect.stringMatching(/saved\.jsonl: \d+ events, \d+ compared, 0 differences\n$/),
    "",
  ]);
  expect(await runCli(["replay", file], elsewhere)).toMatchObject({ code: 0, stdout: there.stdout });

  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace("It is there.", "It is here."));
  const differs = await run(["replay", file]);
  const said = /event (\d+) \(turn\.ended, text\) of lead: decision; seam stop, mechanism loop/.exec(differs.stdout);
  expect([differs.code, said !== null]).toEqual([1, true]);
  const json = await run(["replay", file, "--json"]);
  const known = { file, context: id, events: expect.any(Number), compared: expect.any(Number), unknown: [] };
  const seq = Number(said![1]);
  const different = expect.objectContaining({ seq, kind: "decision" });
  expect([json.code, JSON.parse(json.stdout)]).toEqual([1, [{ ...known, differences: [different], gone: [] }]]);

  const listed = [seq, 1].map((one) => ({ seq: one, kind: "decision", mechanism: "loop" }));
  const list = file.replace(".jsonl", ".expected.json");
  fs.writeFileSync(list, JSON.stringify(listed));
  const gone = await run(["replay", file]);
  expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining(`event 1: decision is listed in ${list} and`)]);
  fs.writeFileSync(list, JSON.stringify(listed.slice(0, 1)));
  expect((await run(["replay", file])).code).toBe(0);
});

test("where nothing was recorded, and for a file that is none, one line says so", async () => {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  fs.writeFileSync(path.join(opts.cwd, "notes.jsonl"), "{}\n");
  const says = async (...args: string[]) => {
    const { code, stderr } = await runCli(args, opts);
    return [code, stderr];
  };
  expect(await says("replay", "abcd")).toEqual([2, expect.stringMatching(/^.*there is no context here yet\n$/)]);
  expect(await says("contexts", "export", "--as-test", "abcd", "x.jsonl")).toEqual(await says("replay", "abcd"));
  expect(await says("replay", "gone.jsonl")).toEqual([2, expect.stringContaining("gone.jsonl is not there")]);
  expect(await says("replay", path.join(opts.cwd, "notes.jsonl"))).toEqual([
    2,
    expect.stringContaining("is no whole recording"),
  ]);
});

test.runIf(hasStrace)("nothing is asked, run or written", async () => {
  const { opts, id } = await recorded();
  const log = path.join(scratch(onTestFinished), "calls.log");
  const calls = "trace=connect,socket,execve,unlink,rename,mkdir,write,writev,pwrite64,pwritev,pwritev2,ftruncate";
  const args = ["-f", "-y", "-qq", "-o", log, "-e", calls, process.execPath, bin, "replay", id];
  const before = filesIn(opts);
  expect((await runProgram("strace", args, { ...opts, env: { NODE_DISABLE_COMPILE_CACHE: "1" } })).code).toBe(0);
  const seen = fs.readFileSync(log, "utf8").split("\n");
  const [, ...started] = seen.filter((line) => line.includes("execve("));
  const asked = seen.filter((line) => /\bconnect\(|\bsocket\(/.test(line));
  /** Into a file, not a pipe or what wakes a thread; SQLite's index of readers is everyone's who reads. */
  const isWrite = /\b(?:write|writev|pwrite\w*|ftruncate)\(\d+<\/(?!dev\/|[^>]*-shm>)|\b(?:unlink|rename|mkdir)\(/;
  const written = seen.filter((line) => isWrite.test(line));
  expect({ started, asked, written }).toEqual({ started: [], asked: [], written: [] });
  expect(filesIn(opts)).toEqual(before);
});

/** But for what SQLite makes for every reader: an index in shared memory, an empty log. */
const filesIn = ({ cwd, state }: { cwd: string; state: string }) =>
  [cwd, state].flatMap((dir) =>
    fs
      .globSync("**", { cwd: dir })
      .filter((name) => !/-(?:shm|wal)$/.test(name) && fs.statSync(path.join(dir, name)).isFile())
      .sort()
      .map((name) => [name, fs.readFileSync(path.join(dir, name), "base64")]),
  );
