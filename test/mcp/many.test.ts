// Many tools: their schemas are not sent; the ones that are needed are found, offered and called.
import { expect, test } from "vitest";
import { call, connect, openDesk } from "./desk.ts";

const properties = { id: { type: "string", description: "which one of them is meant, by its number" } };
const tools = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({
    name: `tool_${from + n}`,
    description:
      from + n === 333 ? "Paints a zebra." : `Counts horses in stable ${from + n}, slowly and with great care.`,
    inputSchema: { type: "object", properties, required: ["id"] },
  }));

test("four hundred tools grow a request by less than 4 kB, and a needed one is found and called, also by a later process", async () => {
  const desk = await openDesk(
    [
      connect("small"),
      { calls: [...connect("a").calls, ...connect("b").calls] },
      call("find_mcp_tools", { query: "paint zebra" }),
      call("mcp__b__tool_333", { id: "7" }),
      { text: "ok" },
      call("find_mcp_tools", { query: "nothing has these" }),
      { text: "ok" },
    ],
    { small: { tools: tools(0, 2) }, a: { tools: tools(0, 200) }, b: { tools: tools(200, 400) } },
  );
  const { context } = await desk.go();
  const offered = (n: number) => desk.tools(n).filter((name) => name.includes("mcp"));
  expect([1, 2, 3].map(offered)).toEqual([
    ["connect_mcp", "mcp__small__tool_0", "mcp__small__tool_1"],
    ["connect_mcp", "find_mcp_tools"],
    ["connect_mcp", "find_mcp_tools", "mcp__b__tool_333"],
  ]);
  expect([desk.bytes(4) - desk.bytes(0) < 4000, desk.last(3), desk.last(4)]).toEqual([
    true,
    "Offered from the next round on:\n- mcp__b__tool_333: Paints a zebra.",
    'tool_333 {"id":"7"}',
  ]);
  await desk.harness.close();
  const second = await desk.again();
  await desk.go("more", context, second);
  await second.close();
  expect([offered(5), desk.last(6)]).toEqual([
    ["connect_mcp", "find_mcp_tools", "mcp__b__tool_333"],
    "None of 402 tools has these words. Try others, or fewer.",
  ]);
  await desk.close();
});
