// One question to one agent: its answer, what goes wrong, where it works, what it hands in.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { RESULTS } from "../../src/contexts/index.ts";
import { parseTemplate } from "../../src/hub.ts";
import type { ScriptRequest } from "../../src/testing/model-server-script.ts";
import { tempDir } from "../house.ts";
import { text } from "../workflow/desk.ts";
import { refusal, setUp } from "./desk.ts";

const exporting = (values: unknown) => ({ calls: [{ name: "export_to_context", input: { values } }] });
const firstText = ({ body }: ScriptRequest): string =>
  body.messages.find((one: { role: string }) => one.role === "user").content;

describe("hub.run", () => {
  it("never gives the answer of another question: another prompt, type or exports is a conflict", async () => {
    const { house, context, hub } = await setUp((request) => ({
      text: `answer to ${/question \w+/.exec(firstText(request))![0]}`,
    }));
    const task = { context: context.id, agent: "a", type: "general-purpose", prompt: "question one" };
    expect((await hub.run(task)).text).toBe("answer to question one");
    for (const other of [{ prompt: "question two" }, { type: "code-reviewer" }, { exports: { k: text } }])
      expect(await refusal(hub.run({ ...task, ...other }))).toEqual({
        code: "conflict",
        message: expect.stringContaining("a was asked something else in this context before"),
      });
    expect(await hub.run(task)).toMatchObject({ text: "answer to question one", requests: 0 });
    expect(house.server.log().requests.length).toBe(1);
  });

  it("logs what went wrong in the context, and raises it", async () => {
    const { context, hub } = await setUp([{ text: "no export" }, { text: "again none" }]);
    const task = { context: context.id, agent: "bad.1", type: "general-purpose", prompt: "p", exports: { k: text } };
    expect(await refusal(hub.run(task))).toMatchObject({ code: "invalid", message: "bad.1: k is missing" });
    expect(await context.errors()).toMatchObject([{ agent: "bad.1", message: "bad.1: k is missing" }]);
  });

  it("works in the harness's root where the context names none, and refuses one that is not there", async () => {
    const { house, contexts, hub } = await setUp((request) =>
      request.round === 0
        ? {
            calls: [
              { name: "read_file", input: { path: "here.txt" } },
              { name: "bash", input: { command: "pwd" } },
            ],
          }
        : { text: "done" },
    );
    fs.writeFileSync(path.join(house.root, "here.txt"), "in the root of the harness");
    const bare = await contexts.create({ task: "no root" });
    await hub.run({ context: bare.id, agent: "a", type: "general-purpose", prompt: "Look." });
    const sent = JSON.stringify(house.server.log().requests[1]!.body);
    expect(sent).toContain("in the root of the harness");
    expect(sent).toContain(house.root);

    const gone = tempDir("gone");
    const lost = await contexts.create({ task: "lost", root: gone });
    fs.rmSync(gone, { recursive: true });
    expect(
      (await refusal(hub.run({ context: lost.id, agent: "a", type: "general-purpose", prompt: "p" }))).message,
    ).toContain(`the folder ${gone} of`);
    expect((await refusal(contexts.create({ task: "t", root: gone }))).code).toBe("invalid");
  });

  it("lets only its own agent hand in a key that it asked for, and an agent without exports none of another's", async () => {
    const { house, context, hub } = await setUp((request) => {
      const prompt = firstText(request);
      if (prompt.includes("FIRST")) return request.round === 0 ? exporting({ found: "by first" }) : { text: "first" };
      return request.round === 0
        ? {
            calls: [
              ...exporting({ found: "by second" }).calls,
              { name: "context_write", input: { key: "found", value: 1 } },
            ],
          }
        : { text: '```json export_to_context\n{"found": "in text"}\n```' };
    });
    const base = { context: context.id, type: "general-purpose" };
    await hub.run({ ...base, agent: "first", prompt: "FIRST", exports: { found: text } });
    await hub.run({ ...base, agent: "second", prompt: "SECOND" });
    expect(await context.read("found")).toBe("by first");
    expect((await context.history("found")).length).toBe(1);
    const said = JSON.stringify(house.server.log().requests.at(-1)!.body);
    expect(said.split("found belongs to first, asked to export it").length).toBe(3);
    // Another run that asks for the key may hand it in: whoever asks decides.
    house.server.setScript((request) => (request.round === 0 ? exporting({ found: "by third" }) : { text: "third" }));
    expect((await hub.run({ ...base, agent: "third", prompt: "THIRD", exports: { found: text } })).exports).toEqual({
      found: "by third",
    });
  });

  it("adds each answer once to the results, text and exports, the long ones by reference; the template of the docs renders them", async () => {
    const long = "x".repeat(20_000);
    const { contexts, context, hub } = await setUp((request) => {
      const prompt = firstText(request);
      if (prompt.includes("GREET")) return { text: "Good day." };
      if (prompt.includes("LONG")) return { text: long };
      return request.round === 0 ? exporting({ small: "s", large: long }) : { text: "exported" };
    });
    const base = { context: context.id, type: "general-purpose" };
    await hub.run({ ...base, agent: "greeter", prompt: "GREET" });
    await hub.run({ ...base, agent: "greeter", prompt: "GREET" });
    await hub.run({ ...base, agent: "exporter", prompt: "EXPORT", exports: { small: text, large: text } });
    await hub.run({ ...base, agent: "long", prompt: "LONG" });
    const results = (await context.read(RESULTS)) as { agent: string; text: string }[];
    expect(results).toEqual([
      { agent: "greeter", type: "general-purpose", at: expect.any(Number), text: "Good day.", exports: {} },
      {
        ...{ agent: "exporter", type: "general-purpose", at: expect.any(Number), text: "exported" },
        exports: { small: "s", large: { ref: "large", bytes: 20_002 } },
      },
      {
        agent: "long",
        type: "general-purpose",
        at: expect.any(Number),
        text: expect.stringContaining("20000 bytes in all: agent/long/text"),
        exports: {},
      },
    ]);
    expect(results[2]!.text.length).toBeLessThan(8_300);
    expect(await (await contexts.get(context.id)).read("agent/long/text")).toBe(long);

    const docs = fs.readFileSync(path.join(import.meta.dirname, "../../docs/templates.md"), "utf8");
    const poml = /```xml\n(<poml>[\s\S]*?<\/poml>)\n```/.exec(docs)![1]!;
    const files: Record<string, string> = { "style.json": '{"tone":"plain"}' };
    const prompt = parseTemplate({ text: poml, file: "docs.poml" }).render(
      { initial_context: { topic: "greetings", feedback: "", accumulated_results: results.slice(0, 2) } },
      { include: (name) => files[name] },
    );
    expect(prompt).toContain("1. greeter: Good day.\n2. exporter: exported");
  });
});
