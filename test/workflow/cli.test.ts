// Workflows through the command line.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

const WORKFLOW = `name: two steps
inputs:
  topic: { type: string }
phases:
  - id: find
    agent: explore
    prompt: "Find {{ topic }}."
    exports: { found: { type: array, items: { type: string } } }
  - id: ask
    wait: input
    needs: [find]
    prompt: "Which one?"
    exports: { choice: { type: string } }
  - id: done
    agent: general-purpose
    needs: [ask]
    prompt: "Take {{ choice }}."
`;

function setUp() {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  fs.writeFileSync(path.join(opts.cwd, "w.yaml"), WORKFLOW);
  const script = path.join(opts.state, "s.yaml");
  fs.writeFileSync(
    script,
    "rounds:\n  - calls:\n      - { name: export_to_context, input: { values: { found: [a, b] } } }\n  - text: finished\n",
  );
  const model = (verb: string | undefined) =>
    verb === "run" || verb === "retry" ? ["--model", `rehearsal:${script}`] : [];
  const cli = (...args: string[]) => runCli([...args, ...model(args[1])], opts);
  const json = async (...args: string[]) => JSON.parse((await cli(...args, "--json")).stdout);
  return { opts, cli, json };
}

test("a workflow runs, waits for a person, and goes on with what it has; finished phases are not asked again", async () => {
  const { cli, json } = setUp();
  const first = await cli("workflow", "run", "w.yaml", "--input", "topic=knots");
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining("find")]);
  const [{ context, state }] = await json("workflow", "ls");
  expect(state).toBe("waiting");
  expect(await json("contexts", "data", context, "found")).toEqual(["a", "b"]);
  expect((await cli("workflow", "input", context, "choice=b")).code).toBe(0);
  const done = await json("workflow", "retry", context);
  expect(done.phases.map((p: { id: string; state: string; runs: number }) => [p.id, p.state, p.runs])).toEqual([
    ["find", "done", 1],
    ["ask", "done", 1],
    ["done", "done", 1],
  ]);
  expect((await cli("workflow", "show", context)).stdout).toContain("two steps · done");
});

test("a mistake in a workflow is named by file and line, and nothing starts", async () => {
  const { cli, json } = setUp();
  const wrong = await cli("workflow", "run", "w.yaml");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("topic")]);
  expect(await json("workflow", "ls")).toEqual([]);
});

test("inputs that are no KEY=VALUE are said before anything is recorded, and an answer needs one", async () => {
  const { cli, json } = setUp();
  const wrong = await cli("workflow", "run", "w.yaml", "--input", "topic");
  expect([wrong.code, wrong.stderr]).toEqual([2, 'holdfast: "topic" is not KEY=VALUE\n']);
  expect(await json("contexts", "ls")).toEqual([]);
  await cli("workflow", "run", "w.yaml", "--input", "topic=knots");
  const [{ context }] = await json("workflow", "ls");
  const empty = await cli("workflow", "input", context);
  expect([empty.code, empty.stdout, empty.stderr]).toEqual([
    ...[2, "", "holdfast: workflow input needs KEY=VALUE: use: holdfast workflow input CONTEXT KEY=VALUE …\n"],
  ]);
});

test("an imported workflow that names a file outside the project is not gone on with, nor is a fork of it; one of the project's is", async () => {
  const { opts, cli, json } = setUp();
  const outside = path.join(opts.state, "outside.yaml");
  fs.copyFileSync(path.join(opts.cwd, "w.yaml"), outside);
  const copies: string[] = [];
  for (const file of [outside, "w.yaml"]) {
    await cli("workflow", "run", file, "--input", "topic=knots");
    const [{ context }] = await json("workflow", "ls");
    const exported = path.join(opts.state, `${copies.length}.hfctx`);
    await cli("contexts", "export", context, exported);
    copies.push((await json("contexts", "import", exported)).id);
  }
  const [foreign, own] = copies as [string, string];
  const forked = (await json("contexts", "fork", foreign)).id;
  for (const id of [foreign, forked]) {
    for (const words of [
      ["workflow", "retry", id],
      ["-p", "-r", id],
    ]) {
      const { code, stderr } = await cli(...words);
      const why = `${id} was imported, and names a workflow file outside this project (${outside})`;
      expect([code, stderr]).toEqual([4, expect.stringContaining(why)]);
    }
  }
  expect((await json("workflow", "retry", own)).state).toBe("waiting");
});
