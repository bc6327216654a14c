// The tools of the seed's last chapter, by the names that it gives them: a lead with a skill, a server and --stay is offered all 27.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

const OF_THE_SEED = `bash read_file write_file edit_file glob todo_write task load_skill compact
create_task list_tasks get_task claim_task complete_task schedule_cron list_crons cancel_cron
spawn_teammate send_message check_inbox request_shutdown request_plan review_plan
create_worktree remove_worktree keep_worktree connect_mcp`.split(/\s+/);

test("the seed's 27 tools are offered by their names", async () => {
  expect(OF_THE_SEED.length).toBe(27);
  const server = await startModelServer({ script: () => ({ text: "ok" }) });
  onTestFinished(() => server.close());
  const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
  fs.cpSync("examples/skills", path.join(state, ".claude/skills"), { recursive: true });
  const servers = JSON.stringify({
    mcpServers: { docs: { command: "node", args: ["examples/docs-server/server.mjs"] } },
  });
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  await runCli(["-p", "hello", "--stay", "--mcp-config", servers, "--model", "openai-compatible/mock"], {
    cwd,
    state,
    env,
  });
  const { tools } = server.log().requests[0]!.body as { tools: { function: { name: string } }[] };
  const names = tools.map((tool) => tool.function.name);
  expect(OF_THE_SEED.filter((name) => !names.includes(name))).toEqual([]);
});
