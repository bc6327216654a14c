// Which context a command line means, from which folder, and what is said where it means none.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../turn.ts";
import { type CliOptions, runCli, startCli } from "./cli.ts";
import { here } from "./here.ts";

function setUp() {
  const opts: CliOptions = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  fs.mkdirSync(path.join(opts.cwd, ".git"));
  fs.mkdirSync(path.join(opts.cwd, "sub"));
  const sub = { ...opts, cwd: path.join(opts.cwd, "sub") };
  const told = async (args: string[], at: CliOptions = opts) => {
    const { code, stdout, stderr } = await runCli(args, at);
    return { code, stdout, stderr };
  };
  return { opts, sub, told };
}

test("a context of the project is named with its folder where none was started in this one, and one of another project with that", async () => {
  const { opts, sub, told } = setUp();
  const { stdout } = await runCli(["-p", "--json", "list Markdown files"], opts);
  const { session_id: id } = JSON.parse(stdout);
  const none = `holdfast: no context was started in this folder; the newest of the project is ${id} (in ${opts.cwd}): holdfast -p -r ${id} --cwd ${opts.cwd}; or start one with \`holdfast -p --cwd ${sub.cwd} "…"\`\n`;
  const [continued, resumed] = [await told(["-p", "-c", "x"], sub), await told(["-p", "-r"], sub)];
  expect([continued, resumed]).toEqual([
    { code: 2, stdout: "", stderr: none },
    { code: 2, stdout: "", stderr: none },
  ]);
  const listed = await here(["contexts", "ls"], sub);
  expect(listed.stdout.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^CONTEXT +STATUS +AGE +ROUNDS +FOLDER +TITLE$/),
    expect.stringContaining(opts.cwd.slice(-20)),
  ]);
  expect((await here(["contexts", "ls"], opts)).stdout).not.toContain("FOLDER");
  const byId = await told(["-p", "-r", id, "list Python files"], sub);
  expect([byId.code, byId.stderr]).toEqual([0, expect.stringContaining(`holdfast: ${id} goes on in ${opts.cwd}\n`)]);
  const other = { ...opts, cwd: scratch(onTestFinished) };
  const folder = `in this project; it belongs to ${opts.cwd}: add --cwd ${opts.cwd}\n`;
  expect([
    await told(["-p", "-r", id, "x"], other),
    (await here(["contexts", "show", id.slice(-6)], other)).stderr,
  ]).toEqual([
    { code: 2, stdout: "", stderr: `holdfast: there is no context "${id}" ${folder}` },
    `holdfast: there is no context "${id.slice(-6)}" ${folder}`,
  ]);
});

test("too little of an id, the prefix of all of them, and a title that two have are told as what they are", async () => {
  const { opts } = setUp();
  await runCli(["-p", "list Markdown files"], opts);
  const one = await here(["contexts", "show", "ctx_"], opts);
  await runCli(["-p", "list Markdown files"], opts);
  const two = await here(["contexts", "show", "37"], opts);
  const title = await here(["contexts", "show", "list Markdown files"], opts);
  const short = (what: string) =>
    `holdfast: "${what}" is too short for a part of an id, and no context is called so: four characters or more, such as those after ctx_ in \`holdfast contexts ls\`\n`;
  expect([one, two, title].map(({ code, stderr }) => [code, stderr])).toEqual([
    [2, short("ctx_")],
    [2, short("37")],
    [
      2,
      expect.stringMatching(
        /^holdfast: 2 contexts are called "list Markdown files" \(ctx_\w+, ctx_\w+\): give the id of one\n$/,
      ),
    ],
  ]);
});

test("a model whose key is gone is named as the context's own, and whoever holds a context in words of a person", async () => {
  const { opts } = setUp();
  const script = path.join(opts.state, "s.yaml");
  fs.writeFileSync(
    script,
    "rounds:\n  - calls:\n      - { name: bash, input: { command: ./work.sh } }\n  - text: done\n",
  );
  fs.writeFileSync(path.join(opts.cwd, "work.sh"), "#!/bin/sh\n", { mode: 0o755 });
  const env = {
    OPENAI_API_KEY: "sk-none",
    OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    HOLDFAST_CRASH_AT: "model.before",
  };
  await runCli(["-p", "go"], { ...opts, env });
  const [{ id }] = JSON.parse((await here(["contexts", "ls", "--json"], opts)).stdout);
  const { code, stderr } = await runCli(["-p", "-r"], opts);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(
      new RegExp(
        `^holdfast: ${id} was begun with openai/\\S+: openai/\\S+ needs a key: set OPENAI_API_KEY, or give --model rehearsal \\(offline, not an AI\\)\\n$`,
      ),
    ),
  ]);
  const waits = startCli(["-p", "-r", id, "--model", `rehearsal:${script}`, "--approvals", "wait"], opts);
  onTestFinished(() => void waits.child.kill("SIGKILL"));
  while (JSON.parse((await here(["approve", "--json"], opts)).stdout).length === 0);
  const second = await runCli(["-p", "-r", id, "more"], opts);
  expect([second.code, second.stderr]).toEqual([
    2,
    `holdfast: process ${waits.child.pid} works in context ${id}: wait until it is done, end it, or work in another context; it waits for an answer: holdfast approve ls --cwd ${opts.cwd}; or work on a copy of it: holdfast -p -r ${id} --fork-session --cwd ${opts.cwd}\n`,
  ]);
});
