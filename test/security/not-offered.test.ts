// A tool that an agent is not offered does not run for it, however it is called.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, makeRepository } from "../worktrees/world.ts";
import { openCage } from "./cage.ts";

/** Offered with `--stay`, to teammates, to who has a part of a larger work. */
const CALLS = [
  { name: "create_worktree", input: { name: "w1" } },
  { name: "keep_worktree", input: { name: "w1" } },
  { name: "remove_worktree", input: { name: "w1" } },
  { name: "spawn_teammate", input: { name: "eve", role: "x", prompt: "x" } },
  { name: "send_message", input: { to: "lead", text: "x" } },
  { name: "submit_plan", input: { plan: "x" } },
  { name: "context_write", input: { key: "x", value: 1 } },
  { name: "export", input: { value: 1 } },
];

test("a call of a tool that is not offered is refused, and nothing is made", async () => {
  const { base, root, run } = openCage({ "home/.gitconfig": "" });
  makeRepository(root);
  const said = await run(CALLS);
  expect(said.map((text) => text.replace(/ Tools: .*/s, ""))).toEqual(
    CALLS.map(({ name }) => `There is no tool named ${name}.`),
  );
  expect([git(root, "branch", "--list", "holdfast/*"), git(root, "worktree", "list").split("\n").length]).toEqual([
    "",
    1,
  ]);
  expect(readdirSync(join(base, "state"), { recursive: true }).filter((name) => `${name}`.endsWith("/w1"))).toEqual([]);
});
