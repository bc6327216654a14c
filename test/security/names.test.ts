// Names that every object inherits: as the name of an agent, a key, a phase, a variable, and in files of somebody else's.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claudeNames, toClaude } from "../../src/claude-code/tool-names.ts";
import { openContexts } from "../../src/contexts/index.ts";
import { mechanismsOf } from "../../src/harness.ts";
import { createHub } from "../../src/hub/hub.ts";
import { blobHash } from "../../src/ledger/checksum.ts";
import type { FactSchema } from "../../src/ledger/event-schema.ts";
import type { EventDefs } from "../../src/ledger/events.ts";
import type { EventInput, StoredEvent } from "../../src/ledger/store.ts";
import { loopEvents } from "../../src/loop/events.ts";
import { readers } from "../../src/loop/host.ts";
import { readDefinition } from "../../src/mechanisms/agents/read-definition.ts";
import { claudeModel } from "../../src/models/catalogue.ts";
import { parseTemplate } from "../../src/templates/index.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { defineWorkflow, parseWorkflow } from "../../src/workflow/parse.ts";
import { runWorkflow } from "../../src/workflow/run.ts";
import { runCli } from "../cli/cli.ts";
import { openWorld, refusal } from "../contexts/world.ts";
import { filled } from "../filled-events.ts";
import { openHouse, tempDir } from "../house.ts";
import { openDesk, phase, text } from "../workflow/desk.ts";

const NAMES = ["constructor", "__proto__", "toString", "hasOwnProperty"];

/** Everything that all objects share: nothing that is read or written may change it. */
const shared = (): string[] =>
  Object.getOwnPropertyNames(Object.prototype).flatMap((name) => {
    const value: unknown = name === "__proto__" ? undefined : Reflect.get(Object.prototype, name);
    return [
      name,
      ...(typeof value === "function" ? Object.getOwnPropertyNames(value).map((own) => `${name}.${own}`) : []),
    ];
  });

/** A property of its own, whatever its name. */
const withKey = <T>(key: string, value: T): Record<string, T> => Object.fromEntries([[key, value]]);

test.each(NAMES)("no event that names %s anywhere changes what all objects share, or ends a fold", (name) => {
  const mechanisms = mechanismsOf({ root: "/", jobsDir: "/none" });
  const { fold, codec } = readers(mechanisms);
  const defs = [loopEvents as EventDefs, ...mechanisms.map((one) => one.events ?? {})].flatMap(
    Object.entries<EventDefs[string]>,
  );
  const known: Pick<EventInput, "type" | "data">[] = [
    ...defs.map(([type, { schema }]) => ({ type, data: filled(schema() as FactSchema<unknown>, name) })),
    { type: "hub.asked", data: { type: name, exports: withKey(name, true) } },
    { type: "context.configured", data: { task: name, schemas: withKey(name, true) } },
    { type: "context.checkpointed", data: { name, auto: false } },
    { type: "agent.created", data: { name, cwd: "/" } },
    { type: "context.moved", data: { from: name, to: name } },
    { type: "context.restored", data: { checkpoint: name, seq: 2, conversation: true, data: true, files: false } },
  ];
  const before = shared();
  let state = fold.initial();
  const problems: string[] = [];
  // Twice, and the other way round: what one makes another finds.
  for (const { type, data } of [...known, ...known.toReversed(), ...known]) {
    const v = defs.find(([of]) => of === type)?.[1].v ?? 1;
    const event: StoredEvent = {
      seq: state.seq + 1,
      id: `e${state.seq}`,
      at: 1,
      v,
      type,
      actor: name,
      touches: [],
      data,
    };
    const decoded = codec.decode(event);
    if (decoded.ok) state = fold.apply(state, decoded.event);
    else problems.push(`${type}: ${decoded.reason}`);
  }
  expect(problems).toEqual([]);
  expect(shared()).toEqual(before);
});

test("a file that is imported writes nothing into what all objects share", async () => {
  const house = await openHouse([{ text: "done" }]);
  onTestFinished(() => house.close());
  const run = await house.harness.run("begin");
  await run.result;
  await run.taken.release();
  const blob = Buffer.from("of somebody else");
  const spilled = (...way: string[]) => ({
    value: { origin: "x", text: "short" },
    $spill: [{ path: way, hash: blobHash(blob), bytes: blob.length }],
  });
  const events: EventInput[] = [
    { type: "note.added", actor: "lead", data: spilled("__proto__", "spilled") },
    { type: "note.added", actor: "lead", data: spilled("constructor", "spilled") },
    { type: "note.added", actor: "lead", data: spilled("nowhere", "at all") },
    { type: "note.added", actor: "lead", data: spilled("text") },
    { type: "agent.moved", actor: "__proto__", data: { cwd: "/evil" } },
    { type: "file.seen", actor: "__proto__", data: { path: "seen", hash: "h" } },
  ];
  await house.store.append([{ ledger: run.context, events: events.map((one) => ({ v: 1, ...one })) }], {
    blobs: [blob],
  });
  const contexts = await openContexts({ store: house.store });
  const file = path.join(house.state, "x.hfctx");
  await contexts.export(run.context, file);
  const before = shared();
  const { id } = await contexts.import(file, { root: house.root });
  const ledger = await house.harness.host.open(id);
  expect([shared(), ledger.problems, ledger.readOnly]).toEqual([before, [], undefined]);
  expect(JSON.stringify(ledger.state.slices.transcript)).toContain("of somebody else");
});

test.each(NAMES)("no agent of the hub is called %s", async (agent) => {
  const house = await openHouse([{ text: "never asked" }]);
  onTestFinished(() => house.close());
  const contexts = await openContexts({ store: house.store });
  const context = await house.harness.host.create({ root: house.root, title: "names" });
  const hub = createHub({ host: house.harness.host, contexts });
  const before = shared();
  expect(await refusal(hub.run({ context, agent, type: "general-purpose", prompt: "Work." }))).toEqual({
    code: "invalid",
    message: `${agent} is not the name of an agent here: choose another`,
  });
  expect(await refusal(house.harness.host.take(context, { agent }))).toMatchObject({ code: "not_found" });
  expect([shared(), house.server.log().requests]).toEqual([before, []]);
});

test("an agent exports such keys as any other, asked for or not; __proto__ is refused with the reason", async () => {
  const exporting = (values: object) => ({ calls: [{ name: "export_to_context", input: { values } }] });
  const begin = async (script: Script) => {
    const house = await openHouse(script);
    onTestFinished(() => house.close());
    const contexts = await openContexts({ store: house.store });
    const context = await house.harness.host.create({ root: house.root, title: "names" });
    const hub = createHub({ host: house.harness.host, contexts });
    const task = { context, type: "general-purpose", prompt: "Work." };
    return { hub, context: await contexts.get(context), task };
  };
  const free = await begin([exporting({ constructor: 1, toString: "a" }), { text: "done" }]);
  await free.hub.run({ ...free.task, agent: "a" });
  expect((await free.context.list()).map(({ key, preview }) => [key, preview]).slice(1)).toEqual([
    ["constructor", "1"],
    ["toString", '"a"'],
  ]);

  const asked = await begin([exporting({ constructor: "no number" }), exporting({ constructor: 2 }), { text: "done" }]);
  const exports = withKey("constructor", { type: "number" });
  const given = await asked.hub.run({ ...asked.task, agent: "a", exports });
  expect([given.exports, given.rounds]).toEqual([withKey("constructor", 2), 3]);

  const refused = { code: "invalid", message: "__proto__ cannot be exported: choose another key" };
  const wanted = asked.hub.run({ ...asked.task, agent: "b", exports: withKey("__proto__", { type: "object" }) });
  expect(await refusal(wanted)).toEqual(refused);
});

test.each(NAMES)(
  "shared data under %s is read, listed, merged, restored, forked and carried elsewhere like any other",
  async (key) => {
    const world = await openWorld();
    onTestFinished(() => world.dispose());
    const context = await world.contexts.create({ task: "names", schemas: withKey(key, { type: "object" }) });
    expect(await refusal(context.share(key, "a text"))).toMatchObject({ code: "invalid" });
    await context.shareAll(withKey(key, withKey(key, 1)));
    await context.checkpoint(key);
    await context.merge(key, (value) => ({ ...(value as object), more: true }));
    const whole = async (one: typeof context) => ({
      value: JSON.stringify(await one.read(key)),
      part: await one.read(key, `$['${key}']`),
      keys: (await one.list()).map((info) => info.key),
      history: (await one.history(key)).map(({ op, current }) => [op, current]),
      refused: (await refusal(one.share(key, 7))).code,
    });
    const sets = (...current: boolean[]) => current.map((one) => ["set", one]);
    const now = {
      ...{ value: `{"${key}":1,"more":true}`, part: 1, keys: [key], history: sets(true, true) },
      refused: "invalid",
    };
    expect(await whole(context)).toEqual(now);
    expect(await whole(await (await world.again()).get(context.id))).toEqual(now); // from its snapshot
    const then = { ...now, value: `{"${key}":1}`, history: sets(true) };
    expect(await whole(await context.fork(key))).toEqual(then);
    expect((await context.diff(key)).changed.map((one) => one.key)).toEqual([key]);
    await context.restore(key, { data: true });
    expect(await whole(context)).toEqual({ ...then, history: sets(true, false) });
    const file = path.join(world.folder, "x.hfctx");
    await world.contexts.export(context.id, file);
    const { id } = await world.contexts.import(file);
    expect(await whole(await world.contexts.get(id))).toEqual({ ...then, history: sets(true, false) });
    const plain = await world.contexts.create({
      task: "whole",
      schema: { type: "object", properties: withKey(key, { type: "number" }), required: [key] },
    });
    expect((await refusal(plain.share(key, "a text"))).code).toBe("invalid");
    await plain.share(key, 1);
    expect((await refusal(plain.remove(key))).code).toBe("invalid");
  },
);

test("a workflow may have such phases, inputs and exports, and its templates may name them", async () => {
  const { context, fake } = await openDesk();
  const workflow = defineWorkflow({
    name: "names",
    inputs: { valueOf: text },
    phases: [
      phase("constructor", { prompt: "{{ valueOf }}", exports: { toString: text, hasOwnProperty: text } }),
      phase("toString", { needs: ["constructor"], prompt: "{{ toString }} {{ data.hasOwnProperty }}" }),
    ],
  });
  const agents = fake(({ agent }) =>
    agent === "constructor.1" ? { exports: { toString: "said", hasOwnProperty: "too" } } : {},
  );
  const run = await runWorkflow({ workflow, context, runner: agents.runner, inputs: { valueOf: "given" } });
  expect(run.phases.map(({ id, state }) => [id, state])).toEqual([
    ["constructor", "done"],
    ["toString", "done"],
  ]);
  expect(agents.tasks.map(({ prompt }) => prompt)).toEqual([
    "given",
    expect.stringMatching(/^said Data from [\s\S]*too/),
  ]);
});

test("a workflow refuses the key __proto__, and says of a mistake beside such a key what it is", async () => {
  const say = async (yaml: string) =>
    (await refusal((async () => parseWorkflow({ file: "w.yaml", text: yaml }))())).message;
  const flow = (exports: string) => `name: w\nphases:\n  - id: a\n    prompt: x\n    exports:\n      ${exports}\n`;
  expect(await say(flow("__proto__: { type: string }"))).toContain("w.yaml:");
  expect(await say("name: w\ninputs:\n  __proto__: { type: string }\nphases:\n  - id: a\n    prompt: x\n")).toContain(
    "w.yaml:",
  );
  expect(await say("name: w\nphases:\n  - id: a\n    prompt: '{{ toString }}'\n")).toContain(
    'nothing gives "toString"',
  );
});

test("a template says of such a variable that it is not there, or not allowed", async () => {
  const say = async (name: string) =>
    refusal((async () => parseTemplate({ text: `{{ ${name} }}`, file: "t.md" }).render({}))());
  expect(await say("toString")).toEqual({
    code: "invalid",
    message:
      't.md:1:1: there is no variable toString. Give it among the values, or a default: {{ toString | default: "…" }}.',
  });
  for (const name of ["constructor", "__proto__"])
    expect(await say(name)).toEqual({ code: "refused", message: expect.stringContaining(`"${name}" is not allowed`) });
});

test("the command line, rules and definitions of agents take such words for words", async () => {
  const [cwd, state] = [tempDir("words"), tempDir("state")];
  onTestFinished(() => {
    for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
  });
  const said = async (word: string, args: string[]) => {
    const { code, stdout, stderr } = await runCli(
      args.map((one) => one.replaceAll("WORD", word)),
      { cwd, state },
    );
    return [code, `${stdout}${stderr}`.replaceAll(word, "WORD")];
  };
  for (const args of [["WORD"], ["contexts", "WORD"], ["permissions", "check", "echo $WORD"]])
    expect(await said("constructor", args)).toEqual(await said("conspicuous", args));
  const rule = ["-p", "hello", "--model", "rehearsal", "--allowedTools", "WORD(x)"];
  expect(await said("constructor", rule)).toEqual(await said("conspicuous", rule));
  const front = "---\nname: odd\ndescription: Odd.\nconstructor: x\n---\nWork.\n";
  const { definition, problems } = readDefinition(front, "odd.md", { repository: false });
  expect([definition?.name, claudeModel("constructor"), problems]).toEqual([
    "odd",
    "anthropic/constructor",
    ["odd.md:4: constructor is not known: it has no effect"],
  ]);
  expect([toClaude("constructor", { toString: "valueOf" }), claudeNames("constructor")]).toEqual([
    { name: "constructor", input: { toString: "valueOf" } },
    ["constructor"],
  ]);
});
