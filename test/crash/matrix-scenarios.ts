// The first dimension of the matrix of environments: what the agent does when it is killed. Each reply says how often it was asked for,
// so that a reply which was printed and then asked for again shows.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Script, ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { byPrompt, task } from "../subagents/script.ts";
import type { Running, World } from "./driver.ts";

export interface MatrixScenario {
  name: string;
  script: Script;
  /** The command line's words, without those that say how to go on. */
  flags: string[];
  /** A workflow is started and gone on with by words of its own. */
  workflow?: boolean;
  setUp?: (project: string) => void;
  /** Lines of effects.log, each exactly once. */
  effects: string[];
  /** Files as they must be at the end. */
  files: Record<string, string>;
  /** Beside the process, until it has ended: a person who answers. */
  beside?: (running: Running, world: World) => Promise<void>;
  /** What of the world must be as after an undisturbed run. */
  outcome?: (project: string) => string;
}

export const PROMPT = "Please do the thing";
const MOCK = ["--model", "openai-compatible/mock", "--permission-mode", "bypass"];

type Round = ScriptRound | ((request: ScriptRequest) => ScriptRound);
const asked =
  (text: string, round: ScriptRound = {}) =>
  ({ attempt }: ScriptRequest) => ({
    ...round,
    text: `${text} (asked ${attempt})`,
  });
const calling = (name: string, input: unknown) => asked(`Now ${name}.`, { calls: [{ name, input }] });
const END = asked("All of it is done, and this is the closing answer.");
const effect = (n: number) => `echo effect-${n} >> effects.log; echo said-${n}`;
const bash = calling("bash", { command: effect(1) });

const single = (name: string, rounds: Round[], more: Partial<MatrixScenario> = {}): MatrixScenario => ({
  name,
  script: byPrompt([PROMPT, [...rounds, END]]),
  flags: MOCK,
  setUp: notes,
  effects: [],
  files: {},
  ...more,
});

function notes(project: string): void {
  fs.writeFileSync(path.join(project, "notes.txt"), "one\ntwo\nthree\n");
}

const read = calling("read_file", { path: "notes.txt" });
const edit = calling("edit_file", { path: "notes.txt", old_text: "two", new_text: "two two" });

const WORKFLOW = `name: two steps
phases:
  - id: make
    agent: general-purpose
    prompt: "Make it now."
    exports: { made: { type: string } }
  - id: use
    agent: general-purpose
    needs: [make]
    prompt: "Use {{ made }} now."
`;

/** Whoever sits at another terminal and allows what is asked. */
async function allow(running: Running, world: World): Promise<void> {
  let over = false;
  running.ended.then(() => {
    over = true;
  });
  while (!over) {
    // Whoever looks first makes the project: that is what the run is killed at.
    if ((await world.look()).contexts.length === 0) {
      await sleep(20);
      continue;
    }
    const listed = await world.run(["approve", "--json"]);
    const [first]: { requestId: string }[] = listed.code === 0 ? JSON.parse(listed.stdout) : [];
    if (first && !over) await world.run(["approve", first.requestId]);
    else await sleep(50);
  }
}

const trees = (project: string): string =>
  execFileSync("git", ["worktree", "list", "--porcelain"], { cwd: project, encoding: "utf8" })
    .split("\n")
    .filter((line) => /^(?:worktree|branch)/.test(line))
    .map((line) => line.replace(project, "PROJECT"))
    .join("; ");

export const matrixScenarios: MatrixScenario[] = [
  single("read", [read]),
  single("write", [calling("write_file", { path: "deep/new.txt", content: "fresh\n" })], {
    files: { "deep/new.txt": "fresh\n" },
  }),
  single("edit", [read, edit], { files: { "notes.txt": "one\ntwo two\nthree\n" } }),
  single("bash", [bash], { effects: ["effect-1"] }),
  single("worktree", [calling("create_worktree", { name: "api" }), bash, calling("remove_worktree", { name: "api" })], {
    flags: [...MOCK, "--stay"],
    effects: ["effect-1"],
    outcome: trees,
  }),
  {
    ...single("subagent", []),
    script: byPrompt(
      ["Part one", [bash, asked("The part is done.")]],
      [PROMPT, [asked("Now a subtask.", { calls: [task("Part one")] }), END]],
    ),
    effects: ["effect-1"],
  },
  {
    name: "workflow",
    workflow: true,
    flags: MOCK,
    setUp: (project) => fs.writeFileSync(path.join(project, "flow.yaml"), WORKFLOW),
    script: byPrompt(
      ["Make it now", [bash, calling("export_to_context", { values: { made: "knots" } }), asked("Made.")]],
      ["Use knots now", [asked("Used.")]],
    ),
    effects: ["effect-1"],
    files: {},
  },
  single("approval", [calling("bash", { command: "./work.sh" })], {
    flags: ["--model", "openai-compatible/mock", "--approvals", "wait"],
    setUp: (project) =>
      fs.writeFileSync(path.join(project, "work.sh"), "#!/bin/sh\necho effect-1 >> effects.log\n", { mode: 0o755 }),
    effects: ["effect-1"],
    beside: allow,
  }),
];

export const matrixScenario = (name: string): MatrixScenario => matrixScenarios.find((s) => s.name === name)!;
