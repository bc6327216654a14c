// `--stay` with a team ends when nothing more can come of it.
import fs from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { call, type Play, seenIn } from "./world.ts";

async function stay(play: Play) {
  const [cwd, state] = [tempDir("project"), tempDir("state")];
  const server = await startModelServer({ script: (request) => play(seenIn(request)) ?? { text: "ok" } });
  onTestFinished(async () => {
    await server.close();
    for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
  });
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const args = ["-p", "begin", "--stay", "--model", "openai-compatible/mock", "--permission-mode", "bypass"];
  return runCli(args, { cwd, state, env });
}

const spawn = (more: object = {}) =>
  call("spawn_teammate", { name: "alice", role: "writer", prompt: "Hello", ...more });

test("a shutdown that is never answered keeps nobody waiting", { timeout: 20_000 }, async () => {
  const { code, stdout } = await stay(({ agent, last, since }) => {
    if (agent !== "lead" || last !== "begin") return { text: "I look the other way." };
    return since === 0 ? spawn() : since === 1 ? call("request_shutdown", { name: "alice" }) : { text: "I wait." };
  });
  expect([code, stdout]).toEqual([0, expect.stringContaining("I wait.")]);
});

test("nor does the plan of someone who has left", { timeout: 20_000 }, async () => {
  const { code, stderr } = await stay(({ agent, last, since }) => {
    if (agent === "lead" && last === "begin") return since === 0 ? spawn({ require_plan: true }) : { text: "I wait." };
    if (agent === "lead" && last.includes("asks for approval") && since === 0)
      return call("request_shutdown", { name: "alice" });
    const id = /request (shutdown_alice_\w+)/.exec(last)?.[1];
    if (agent === "alice" && since === 0)
      return id ? call("answer_shutdown", { request_id: id, approve: true }) : call("submit_plan", { plan: "Think" });
    return { text: "ok" };
  });
  expect([code, stderr]).toEqual([0, expect.stringContaining("Team: nobody is left.")]);
});
