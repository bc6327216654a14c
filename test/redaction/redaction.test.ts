import { expect, test } from "vitest";
import { defineTool, type ToolRun } from "../../src/loop/seams.ts";
import { createRedaction, redactor } from "../../src/mechanisms/redaction/index.ts";
import { testTurn } from "../turn.ts";

const SECRET = "sk-ant-0123456789abcdef";

test("a known secret does not come back in a result, in what is shown, or while it runs", async () => {
  const mechanism = createRedaction({ ANTHROPIC_API_KEY: SECRET, HOME: "/home/u" });
  const turn = testTurn([], { root: "/" });
  const run = { turn, tool: defineTool({} as never) } as unknown as ToolRun;
  const output = await mechanism.seams!.tool!(run, async (inner) => {
    inner.turn.emit({ type: "output", callId: "c1", text: `key ${SECRET}\n` });
    return { content: [{ type: "text", text: `it is ${SECRET}.` }], display: SECRET };
  });
  expect(output).toEqual({
    content: [{ type: "text", text: "it is [redacted ANTHROPIC_API_KEY]." }],
    display: "[redacted ANTHROPIC_API_KEY]",
  });
  expect(turn.progress).toEqual([{ type: "output", callId: "c1", text: "key [redacted ANTHROPIC_API_KEY]\n" }]);
});

test("words, paths and short values are no secrets; without any the result goes by untouched", async () => {
  expect(redactor({ SSH_AUTH_SOCK: "/run/agent.sock", KEYBOARD: "english", TOKEN: "abc", PATH: "/bin:/usr/bin" })).toBe(
    undefined,
  );
  const output = { content: "as it was" };
  const run = { turn: testTurn([], { root: "/" }) } as unknown as ToolRun;
  expect(await createRedaction({}).seams!.tool!(run, async (inner) => (inner === run ? output : { content: "" }))).toBe(
    output,
  );
});

test("a secret inside another is hidden whole, and special characters are only characters", () => {
  const hide = redactor({ A_TOKEN: "abcd1234", B_TOKEN: "abcd1234(.*)efgh" })!;
  expect(hide("x abcd1234(.*)efgh y abcd1234 z abcd1234ZZefgh")).toBe(
    "x [redacted B_TOKEN] y [redacted A_TOKEN] z [redacted A_TOKEN]ZZefgh",
  );
});
