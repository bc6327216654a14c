// --max-budget-usd and the settings: exit codes, the result line, what a repository may say.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";

let cwd: string;
let state: string;
let server: ModelServer;

beforeEach(async () => {
  cwd = tempDir("project");
  state = tempDir("state");
  server = await startModelServer({
    script: (r) => ({
      calls: [{ name: "todo_write", input: { todos: [{ content: `${r.round}`, status: "pending" }] } }],
      usage: { input: 100_000, output: 0 },
    }),
  });
});
afterEach(async () => {
  await server.close();
  for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
});

const cli = (...args: string[]) =>
  runCli(["-p", ...args], {
    cwd,
    state,
    env: {
      OPENAI_BASE_URL: server.openaiUrl,
      ANTHROPIC_BASE_URL: server.anthropicUrl,
      ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY,
    },
  });
const SONNET = ["--model", "anthropic/claude-sonnet-5-5"];

describe("--max-budget-usd", () => {
  it("ends the work with exit code 3 and the result that wrappers know", async () => {
    const { code, stdout, stderr } = await cli(...SONNET, "--max-budget-usd", "0.35", "--output-format", "json", "go");
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      subtype: "error_max_budget_usd",
      is_error: true,
      num_turns: 2,
      total_cost_usd: 0.4,
    });
    expect(stderr).toContain("$0.4000 of $0.35; go on with a higher --max-budget-usd");
    expect(server.log().requests.length).toBe(2);
    expect((await cli(...SONNET, "-c", "more")).code).toBe(3);
    expect(server.log().requests.length).toBe(2);
    await cli(...SONNET, "--max-budget-usd", "0.45", "-c", "more");
    expect(server.log().requests.length).toBe(3);
  });

  it("is refused, before anything is recorded, for a model whose price is not known", async () => {
    const { code, stderr } = await cli("--model", "openai-compatible/mock", "--max-budget-usd", "1", "go");
    expect([code, stderr]).toEqual([2, expect.stringContaining("the price of openai-compatible/mock is not known")]);
    expect((await cli("--max-budget-usd", "free", "go")).stderr).toContain("takes US dollars above 0");
    expect(server.log().requests.length).toBe(0);
  });
});

describe("the setting budget", () => {
  it("holds for every context, and a repository can only lower it", async () => {
    const put = (file: string, budget: object) => {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, JSON.stringify({ budget }));
    };
    put(path.join(state, ".config/holdfast/settings.json"), { rounds: 3 });
    put(path.join(cwd, ".holdfast/settings.json"), { rounds: 2, tokens: 10_000_000 });
    expect((await cli("--model", "openai-compatible/mock", "--trust", "go")).code).toBe(3);
    expect(server.log().requests.length).toBe(2);
    put(path.join(cwd, ".holdfast/settings.json"), { rounds: 9 });
    const { stderr } = await cli("--model", "openai-compatible/mock", "go");
    expect(stderr).toContain("would loosen 3");
    expect(server.log().requests.length).toBe(5);
  });
});
