// Workflows through the command line.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../tools/turn.ts";
import { runCli } from "./cli.ts";

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
  return { cli, json };
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
