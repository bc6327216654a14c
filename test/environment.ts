// The environment that users run in: keys of real length, the variables of a CI job, hooks, a sandbox. Tests that need another say so.
import os from "node:os";
import path from "node:path";
import type { HookEvent } from "../src/claude-code/hook-events.ts";
import type { HarnessOptions } from "../src/harness-options.ts";
import type { HookConfig } from "../src/mechanisms/hooks/config.ts";
import { probeSandbox } from "../src/mechanisms/jobs/sandbox-state.ts";

/** As long as real ones and of the same letters, but nobody's. */
export const KEYS = {
  OPENAI_API_KEY: "sk-proj-T3stZk3vR9xWq2LmT7uYp0sDfGhJ1kQwErTyUiOpAsDfGh4jKlZxCvBnM5q6W7",
  ANTHROPIC_API_KEY: "sk-ant-api03-T3stQm8nB2vC4xZ6lK9jH1gF3dS5aP7oI0uY2tR4eW6qM8nB1vC3xZ5lK7jH9gF-AA",
};

/** What GitHub and its kin set for every job, a secret among them. */
export const CI_VARIABLES = {
  CI: "true",
  GITHUB_ACTIONS: "true",
  GITHUB_ACTOR: "ada-lovelace",
  GITHUB_REPOSITORY: "ada/analytical-engine",
  GITHUB_SHA: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
  GITHUB_TOKEN: "ghs_T3st16C7e42F292c6912E7710c838347Ae178B4aT3st",
  GIT_AUTHOR_NAME: "Ada Lovelace",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada Lovelace",
  GIT_COMMITTER_EMAIL: "ada@example.com",
  KEYCLOAK_URL: "https://login.example.com/auth",
  DATABASE_URL: "postgres://app:t3st-p4ssw0rd@db.example.com:5432/app",
};

/** Of those that a command runs at: each says nothing and changes nothing. */
const HOOKED: HookEvent[] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
export const HOUSE_HOOKS = "the house";

export const harmlessHooks = (events: readonly HookEvent[] = HOOKED, source?: string): HookConfig =>
  Object.fromEntries(
    events.map((event) => [
      event,
      [{ ...(source && { source }), hooks: [{ type: "command" as const, command: ":" }] }],
    ]),
  );

let probed: ReturnType<typeof probeSandbox> | undefined;

/** Where bubblewrap is missing commands run without it; under CI that is a failure. */
export function sandboxFor(state: string, root: string): HarnessOptions["sandbox"] {
  probed ??= probeSandbox(state);
  if (!probed.works && process.env.CI === "true" && !CI_IS_OURS) throw new Error(probed.why);
  if (!probed.works) return undefined;
  return { bwrap: probed.bwrap, root, home: os.homedir(), dir: path.join(state, "private"), state };
}

/** `CI` may be what a test has set: here later, or for a process that it starts. */
const CI_IS_OURS = process.env.CI !== "true" || process.env.GITHUB_TOKEN === CI_VARIABLES.GITHUB_TOKEN;

/** Redaction reads the process's own environment. Contract: the same for every test of the process. */
export function enterProduction(): void {
  Object.assign(process.env, CI_VARIABLES, KEYS);
}
