// What does not go straight: retries, cut replies, questions to a person, hooks that refuse, interrupts, steering, going back.
import { afterEach, expect, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { readRecording } from "../../src/replay/recording.ts";
import { houseOf, replayEvents } from "../../src/replay/replay.ts";
import { type House, openHouse } from "../house.ts";

let house: House;
afterEach(() => house.close());

/** `had`: of these events it must have had some, or nothing is shown. */
async function replayed(context: string, had: string[]) {
  const events = await readRecording(house.store, houseOf().codec, context);
  const { differences } = await replayEvents(context, events);
  const missing = had.filter(
    (what) => !events.some(({ type, data }) => `${type} ${JSON.stringify(data)}`.includes(what)),
  );
  return { differences, missing };
}
const SAME = { differences: [], missing: [] };

test("a call that fails and is made again, and a reply that is cut off", async () => {
  process.env.HOLDFAST_RETRY_BASE_MS = "1"; // as long as this file runs
  const cut = { text: "half of it", finish: "length" as const };
  house = await openHouse([
    { calls: [{ name: "glob", input: { pattern: "*" } }], faults: [{ status: 529 }, { status: 500 }] },
    cut,
    { text: " and the rest" },
  ]);
  const run = await house.harness.run("go");
  await run.result;
  await run.taken.release();
  expect(
    await replayed(run.context, [
      'model.retried {"kind":"overloaded"',
      'model.retried {"kind":"server"',
      "model.continued",
    ]),
  ).toEqual(SAME);
});

test("a question that a person answers, and one that nobody does", async () => {
  const answers = [
    { decision: "allow" as const, from: "test" },
    { decision: "deny" as const, reason: "not that", from: "test" },
  ];
  house = await openHouse(
    [
      { calls: [{ name: "bash", input: { command: "node -e 1" } }] },
      { calls: [{ name: "bash", input: { command: "node -e 2" } }] },
      { text: "done" },
      { calls: [{ name: "bash", input: { command: "node -e 3" } }] },
      { text: "refused" },
    ],
    { permissionMode: "default", approvals: { onAsk: async () => answers.shift() } },
  );
  const run = await house.harness.run("go");
  await run.result;
  await run.taken.release();
  const deaf = await house.again({ permissionMode: "default", approvals: {} });
  const second = await deaf.run("more", { context: run.context });
  await second.result;
  await deaf.close();
  expect(
    await replayed(run.context, ["approval.asked", '"decision":"allow"', '"decision":"deny"', '"unanswered":true']),
  ).toEqual(SAME);
});

test("hooks that add, change, refuse and go on", async () => {
  let stops = 0;
  house = await openHouse(
    [
      {
        calls: [
          { name: "glob", input: { pattern: "*" } },
          { name: "bash", input: { command: "echo one" } },
        ],
      },
      { text: "first" },
      { text: "second" },
    ],
    {
      inProcessHooks: [
        {
          event: "UserPromptSubmit",
          name: "adds",
          run: async () => ({
            hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "It rains." },
          }),
        },
        {
          event: "PreToolUse",
          name: "refuses",
          matcher: "Bash",
          run: async () => ({
            hookSpecificOutput: {
              hookEventName: "PreToolUse",
              permissionDecision: "deny",
              permissionDecisionReason: "no commands",
            },
          }),
        },
        {
          event: "PreToolUse",
          name: "changes",
          matcher: "Glob",
          run: async () => ({
            hookSpecificOutput: {
              hookEventName: "PreToolUse",
              permissionDecision: "allow",
              updatedInput: { pattern: "*.md" },
            },
          }),
        },
        {
          event: "Stop",
          name: "goes on",
          run: async () => (stops++ === 0 ? { decision: "block", reason: "not yet" } : {}),
        },
      ],
    },
  );
  const run = await house.harness.run("go");
  await run.result;
  await run.taken.release();
  expect(await replayed(run.context, ["It rains.", "no commands", '"rewrote":true', "hook.continued"])).toEqual(SAME);
});

test("an interrupt, going on, steering, and a restore", async () => {
  house = await openHouse([
    {
      calls: [
        { name: "bash", input: { command: "sleep 20" } },
        { name: "bash", input: { command: "echo" } },
      ],
    },
    { text: "went on" },
    { calls: [{ name: "bash", input: { command: "sleep 1" } }] },
    { text: "steered" },
    { text: "after the restore" },
  ]);
  const first = await house.harness.run("go", {
    onEvent: (event) => {
      if (event.type === "event" && event.event.type === "tool.started") setTimeout(() => first.interrupt(), 200);
    },
  });
  await first.result;
  await first.taken.release();
  const again = await house.harness.run(undefined, { context: first.context });
  await again.result;
  await again.taken.release();
  const steered = await house.harness.run("third", {
    context: first.context,
    onEvent: (event) => {
      if (event.type === "event" && event.event.type === "tool.started") void steered.send("faster");
    },
  });
  await steered.result;
  await steered.taken.release();
  const contexts = await openContexts({ store: house.store });
  const context = await contexts.get(first.context);
  const [checkpoint] = (await context.checkpoints()).slice(-1);
  await context.restore(checkpoint!.name);
  const back = await house.harness.run("fourth", { context: first.context });
  await back.result;
  await back.taken.release();
  expect(
    await replayed(first.context, [
      '"reason":"interrupted"',
      '"cause":"resume"',
      '"stopped":"during"',
      '"stopped":"before"',
      "faster",
      "context.restored",
    ]),
  ).toEqual(SAME);
});
