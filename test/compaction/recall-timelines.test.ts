// What a restore left behind can be recalled, and is said to lie there; also where the call was open at the checkpoint that was gone back to.
import { expect, test } from "vitest";
import { openContexts } from "../../src/contexts.ts";
import { toolOf } from "../house.ts";
import { calling, play, recalls, tooLong } from "./playing.ts";

const bash = (command: string) => calling("bash", { command });
const first = (text: string) => text.split("\n")[0];

test("what lies on an abandoned timeline comes back by name and by words, in the order of time; after the undo it is that of now", async () => {
  const { house, context: id, go, recalled } = await play([bash(`echo kept needle ${"x".repeat(2_000)}`)]);
  const context = await (await openContexts({ store: house.store })).get(id);
  await context.checkpoint("before");
  await go([bash("echo lost needle"), { text: "The lost needle was blunt." }], "Look for the lost needle."); // c2
  await context.restore("before", { conversation: true });
  await go([bash("echo new needle"), tooLong], "Look again."); // c3
  await go([
    recalls({ ref: "c2" }, { ref: "r4" }, { ref: "u4" }, { ref: "c1", limit: 1 }, { query: "needle" }),
    bash("echo lost needle"),
    recalls({ ref: "c2" }),
  ]);
  const lost = "it lies on a timeline that a restore abandoned";
  const shown = await recalled(6);
  expect(shown.map(first)).toEqual([
    `[c2: bash, exit code 0; ${lost}]`,
    `[r4: a reply; ${lost}]`,
    expect.stringMatching(/^\[u\d+: .*\]$/),
    "[c1: bash, exit code 0; lines 1-1 of 1]",
    "[the newest first; recall shows any of them whole, by its name]",
    `[c2: bash, exit code 0; done again later: c9 bash, exit code 0; ${lost}]`,
  ]);
  expect(shown[4]!.split("\n").map((line) => line.slice(0, line.indexOf("]")))).toEqual([
    "[the newest first; recall shows any of them whole, by its name",
    "[c3: bash, exit code 0; line 1",
    `[r4: a reply; ${lost}; line 1`,
    `[c2: bash, exit code 0; ${lost}; line 1`,
    expect.stringMatching(new RegExp(`^\\[u\\d+: said to it; ${lost}; line 1$`)),
    "[c1: bash, exit code 0; line 1",
  ]);

  await context.undo();
  const now = await context.recall("c2");
  const later = await context.recall("c3");
  expect([now.isAbandoned, now.since, later.isAbandoned]).toEqual([
    false,
    [{ what: "again", ref: "c9", tool: "bash", outcome: "succeeded", exitCode: 0, isAbandoned: true }],
    true,
  ]);
  const fork = await context.fork("before");
  expect((await fork.recall("c1")).isAbandoned).toBe(false);
  await expect(fork.recall("c2")).rejects.toThrow("there is no c2 in the conversation of lead");
});

test("a call that was open at the checkpoint has the result that came after all, which the undo of the restore brings back", async () => {
  let inside: () => Promise<unknown> = async () => undefined;
  const marks = toolOf("mark", "read", async () => {
    await inside();
    return { content: "the real result" };
  });
  const { house, context: id, go } = await play([{ text: "ready" }], { tools: [marks] });
  const context = await (await openContexts({ store: house.store })).get(id);
  inside = () => context.checkpoint("open");
  // The turn ends with that result: nothing stands behind it.
  await go([calling("mark"), { faults: [{ status: 400, message: "no", type: "invalid_request_error" }] }]);
  await context.restore("open", { conversation: true });
  const abandoned = { ...(await context.recall("c1")) };
  expect([abandoned.end, abandoned.isAbandoned, abandoned.content]).toEqual([
    { outcome: "succeeded" },
    true,
    [{ type: "text", text: "the real result" }],
  ]);
  await context.undo();
  expect((await context.recall("c1")).isAbandoned).toBe(false);
  await go([{ text: "seen" }]);
  const { messages } = house.server.log().requests.at(-1)!.body;
  expect(
    messages.filter((m: { role: string }) => m.role === "tool").map((m: { content: string }) => m.content),
  ).toEqual(["the real result"]);
});
