// What a definition does to its agent, through the whole house: instructions, tools, model, mode, rounds; and that it is kept.
import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { HarnessOptions } from "../../src/harness-options.ts";
import { openModel } from "../../src/models/open-model.ts";
import type { LoggedRequest } from "../../src/testing/model-server-log.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { type House, openHouse } from "../house.ts";
import { byPrompt, promptOf, saidTo, task } from "../subagents/script.ts";

let house: House;
afterEach(() => house?.close());

const definition = (more: object) => ({
  name: "mine",
  description: "for a test",
  instructions: "Be brief, be MINE.",
  ...more,
});
const withAgent = (more: object, options: Partial<HarnessOptions> = {}) => ({
  agents: { definitions: [definition(more)] },
  ...options,
});
const lead = (child: Parameters<typeof byPrompt>[0][1], agent = "mine"): Script =>
  byPrompt(["Part", child], ["Go", [{ calls: [task("Part", { agent })] }, (r) => ({ text: saidTo(r) })]]);
const ofChild = (): LoggedRequest => house.server.log().requests.find((r) => promptOf(r).includes("Part"))!;
// biome-ignore lint/suspicious/noExplicitAny: a request as it came
const toolsOf = (r: LoggedRequest): string[] => r.body.tools.map((t: any) => t.function.name).sort();
// biome-ignore lint/suspicious/noExplicitAny: a request as it came
const systemOf = (r: LoggedRequest): string => r.body.messages.find((m: any) => m.role === "system").content;

it("of a large collection the model is told every name, and of the first what they are for", async () => {
  const definitions = Array.from({ length: 150 }, (_, i) =>
    definition({ name: `agent-${i}`, description: `number ${i} is for `.padEnd(200, "x") }),
  );
  house = await openHouse([{ text: "done" }], { agents: { definitions } });
  await (await house.harness.run("Go")).result;
  const [request] = house.server.log().requests;
  // biome-ignore lint/suspicious/noExplicitAny: a request as it came
  const text: string = request!.body.tools.find((t: any) => t.function.name === "task").function.description;
  expect(definitions.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  expect(text).toMatch(/agent-0 \(number 0 is for x+…\), agent-1 \(number/);
  expect(text).toMatch(/agent-148, agent-149\.$/);
});

describe("a definition", () => {
  it("adds its instructions to the system prompt of its agent alone, the same bytes in every round", async () => {
    house = await openHouse(lead([{ calls: [{ name: "list_jobs", input: {} }] }, { text: "ok" }]), withAgent({}));
    await (await house.harness.run("Go")).result;
    const { requests } = house.server.log();
    const child = requests.filter((r) => promptOf(r).includes("Part"));
    expect(child.map(systemOf)).toEqual([systemOf(child[0]!), systemOf(child[0]!)]);
    expect(systemOf(child[0]!)).toContain("Be brief, be MINE.");
    expect(systemOf(requests[0]!)).not.toContain("MINE");
  });

  it("offers only its tools, under Claude's names or ours; another is unknown to the agent", async () => {
    house = await openHouse(
      lead([{ calls: [{ name: "write_file", input: { path: "a", content: "b" } }] }, (r) => ({ text: saidTo(r) })]),
      withAgent({ tools: ["Read", "grep", "Edit", "Bash"], disallowedTools: ["MultiEdit"] }),
    );
    const { text } = await (await house.harness.run("Go")).result;
    const shared = ["compact", "context_list", "context_read", "export_to_context"];
    expect(toolsOf(ofChild())).toEqual(
      ["bash", ...shared, "edit_file", "grep", "job_kill", "job_output", "list_jobs", "read_file"].sort(),
    );
    expect(text).toContain("There is no tool named write_file.");
    expect(fs.existsSync(path.join(house.root, "a"))).toBe(false);
  });

  it("gives its agent another model, and settles with the caller's where only the name of a family is known", async () => {
    const env = () => ({ OPENAI_BASE_URL: house.server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY });
    const open = (spec: string) => openModel(spec, { env: env() });
    house = await openHouse(lead([{ text: "ok" }]), withAgent({ model: "openai/gpt-5-mini" }, { openModel: open }));
    await (await house.harness.run("Go")).result;
    expect(house.server.log().requests.map((r) => r.model)).toEqual(["mock", "gpt-5-mini", "mock"]);
    await house.close();
    house = await openHouse(lead([{ text: "ok" }]), withAgent({ model: "haiku" }, { openModel: open }));
    await (await house.harness.run("Go")).result;
    expect(house.server.log().requests.map((r) => r.model)).toEqual(["mock", "mock", "mock"]);
  });

  it("that names a model without a key fails with a line that says so", async () => {
    house = await openHouse(
      lead([{ text: "ok" }]),
      withAgent({ model: "anthropic/claude-opus-5" }, { openModel: (spec) => openModel(spec, { env: {} }) }),
    );
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toMatch(/The subtask lead\.c1 failed: .*the model of mine cannot be used: .*ANTHROPIC_API_KEY/);
  });

  it("ends its agent after maxTurns, with what it had said", async () => {
    house = await openHouse(
      lead([{ text: "looking", calls: [{ name: "list_jobs", input: {} }] }]),
      withAgent({ maxRounds: 2 }),
    );
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toContain("stopped after 2 rounds, the maxTurns of mine");
    expect(text).toContain("Its last words:\nlooking");
    expect(house.server.log().requests.filter((r) => promptOf(r).includes("Part")).length).toBe(2);
  });

  it("that wants a worktree is refused where none can be made, and never runs in place", async () => {
    house = await openHouse(lead([{ text: "ran" }]), withAgent({ isolation: "worktree" }));
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toContain("mine wants a worktree of its own");
    expect(ofChild()).toBeUndefined();
    await house.close();
    house = await openHouse(
      lead([{ calls: [{ name: "bash", input: { command: "pwd" } }] }, (r) => ({ text: saidTo(r) })]),
      {
        ...withAgent({ isolation: "worktree" }),
        subagents: {
          isolate: async ({ agent, root }) => {
            const own = path.join(root, `tree-${agent}`);
            fs.mkdirSync(own, { recursive: true });
            return { root: own };
          },
        },
      },
    );
    expect((await (await house.harness.run("Go")).result).text).toContain(path.join(house.root, "tree-lead.c1"));
  });

  it("that is not there names those that are", async () => {
    house = await openHouse(lead([{ text: "ran" }], "nobody"));
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toBe("there is no agent type nobody: there are general-purpose, code-reviewer, explorer, planner");
  });

  it("is kept by the agent: a resume uses the same one, whatever became of the file", async () => {
    house = await openHouse(
      lead([{ calls: [{ name: "list_jobs", input: {} }] }, { text: "ok", faults: [{ pauseAt: 1 }] }]),
      withAgent({ tools: ["list_jobs"] }),
    );
    const run = await house.harness.run("Go");
    await house.server.paused();
    await run.taken.lease.release();
    run.interrupt();
    await run.result.catch(() => undefined);
    await house.harness.close();
    const again = await house.again({ agents: { definitions: [definition({ instructions: "Other." })] } });
    await (await again.run(undefined, { context: run.context })).result;
    await again.close();
    const child = house.server.log().requests.filter((r) => promptOf(r).includes("Part"));
    expect(child.length).toBeGreaterThanOrEqual(2);
    expect(new Set(child.map((r) => `${systemOf(r)} ${toolsOf(r)}`)).size).toBe(1);
  });
});

describe("permissions of an agent", () => {
  const write = [{ calls: [{ name: "write_file", input: { path: "made.txt", content: "x" } }] }, { text: "tried" }];
  const made = () => fs.existsSync(path.join(house.root, "made.txt"));

  it("are tighter when its definition says so", async () => {
    house = await openHouse(lead(write), withAgent({ permissionMode: "plan" }));
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toContain("plan mode: only what reads is allowed");
    expect(made()).toBe(false);
  });

  it("are never looser than the process's", async () => {
    house = await openHouse(
      lead(write),
      withAgent({ permissionMode: "bypassPermissions" }, { permissionMode: "default" }),
    );
    await (await house.harness.run("Go")).result;
    expect(made()).toBe(false);
    await house.close();
    house = await openHouse(lead(write), withAgent({ permissionMode: "acceptEdits" }, { permissionMode: "dontAsk" }));
    await (await house.harness.run("Go")).result;
    expect(made()).toBe(false);
  });

  it("and its tools bind those that work for it too", async () => {
    house = await openHouse(
      byPrompt(
        ["Leaf", [...write]],
        ["Part", [{ calls: [task("Leaf")] }, (r) => ({ text: saidTo(r) })]],
        ["Go", [{ calls: [task("Part", { agent: "mine" })] }, (r) => ({ text: saidTo(r) })]],
      ),
      withAgent({ permissionMode: "plan", disallowedTools: ["bash"] }),
    );
    await (await house.harness.run("Go")).result;
    expect(made()).toBe(false);
    const leaf = house.server.log().requests.find((r) => promptOf(r).includes("Leaf"))!;
    expect(toolsOf(leaf)).not.toContain("bash");
    expect(toolsOf(leaf)).toContain("write_file");
  });

  it("of explorer and planner only read", async () => {
    for (const agent of ["explorer", "planner"]) {
      house = await openHouse(
        lead([{ calls: [{ name: "bash", input: { command: "touch made.txt" } }] }, { text: "tried" }], agent),
      );
      const { text } = await (await house.harness.run("Go")).result;
      expect(text).toContain("plan mode");
      expect(toolsOf(ofChild())).not.toContain("write_file");
      expect(made()).toBe(false);
      await house.close();
    }
  });
});

describe("hooks", () => {
  it("hear of a subagent's start and end by its type, and can speak to it and keep it going", async () => {
    const heard: unknown[] = [];
    let stops = 0;
    house = await openHouse(
      lead([{ text: "first" }, (r) => ({ text: `then: ${saidTo(r)}` })]),
      withAgent(
        {},
        {
          inProcessHooks: [
            {
              event: "SubagentStart",
              matcher: "mine",
              run: async (input) => {
                heard.push([input.hook_event_name, input.agent_id, input.agent_type]);
                return { hookSpecificOutput: { hookEventName: "SubagentStart", additionalContext: "mind the gap" } };
              },
            },
            {
              event: "SubagentStop",
              matcher: "mine",
              run: async (input) => {
                heard.push([input.hook_event_name, input.agent_id, input.agent_type]);
                return stops++ === 0 ? { decision: "block", reason: "once more" } : {};
              },
            },
            { event: "SubagentStop", matcher: "other", run: async () => ({ decision: "block", reason: "never" }) },
          ],
        },
      ),
    );
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toContain("once more");
    expect(JSON.stringify(ofChild().body)).toContain("mind the gap");
    expect(heard).toEqual([
      ["SubagentStart", "lead.c1", "mine"],
      ["SubagentStop", "lead.c1", "mine"],
      ["SubagentStop", "lead.c1", "mine"],
    ]);
  });
});
