// A house with fake MCP servers: what each offers and does stands in a file that a test may change while the server runs.
import fs from "node:fs";
import path from "node:path";
import type { HarnessOptions } from "../../src/harness-options.ts";
import type { McpServer } from "../../src/mechanisms/mcp/port.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { type House, openHouse, tempDir } from "../house.ts";

export interface Plan {
  tools: { name: string; description?: string; inputSchema?: object; annotations?: object }[];
  instructions?: string;
  does?: Record<string, object>;
  /** It answers `initialize` once that file is there. */
  answersAt?: string;
}

export interface Desk extends House {
  /** What that server offers and does from now on. */
  plan(server: string, plan: Plan): void;
  /** What that server saw. */
  seen(server: string): string[];
  go(words?: string, context?: string, harness?: House["harness"]): Promise<{ context: string; said: string[] }>;
  /** Of the n-th request. */
  tools(n: number): string[];
  system(n: number): string;
  last(n: number): string;
  bytes(n: number): number;
}

export async function openDesk(
  script: Script,
  plans: Record<string, Plan>,
  more: Partial<HarnessOptions> & { server?: Partial<McpServer> } = {},
  mcp: { startWaitMs?: number } = {},
): Promise<Desk> {
  const dir = tempDir("mcp");
  const { server: overrides, ...options } = more;
  const fileOf = (name: string) => path.join(dir, `${name}.json`);
  const logOf = (name: string) => path.join(dir, `${name}.log`);
  const plan = (name: string, now: Plan) => fs.writeFileSync(fileOf(name), JSON.stringify(now));
  const servers = Object.entries(plans).map(([name, first]): McpServer => {
    plan(name, first);
    return {
      name,
      source: "settings",
      repository: false,
      timeoutMs: 5_000,
      transport: {
        kind: "stdio",
        command: process.execPath,
        args: [path.join(import.meta.dirname, "fake-server.mjs"), fileOf(name), logOf(name)],
        env: { OWN: "of-the-server" },
      },
      ...overrides,
    };
  });
  const house = await openHouse(script, { mcp: { servers, ...mcp }, ...options });
  type Body = { messages: { role: string; content: unknown }[]; tools: { function: { name: string } }[] };
  const body = (n: number) => house.server.log().requests[n]!.body as Body;
  return {
    ...house,
    plan,
    seen: (name) => (fs.existsSync(logOf(name)) ? fs.readFileSync(logOf(name), "utf8").trim().split("\n") : []),
    async go(words = "go", context, harness = house.harness) {
      const said: string[] = [];
      const run = await harness.run(words, {
        ...(context !== undefined && { context }),
        onEvent: (event) => {
          if (event.type === "progress" && event.progress.type !== "delta") said.push(event.progress.text);
        },
      });
      await run.result;
      await run.taken.release();
      return { context: run.context, said };
    },
    tools: (n) => body(n).tools.map((tool) => tool.function.name),
    system: (n) => String(body(n).messages[0]!.content),
    last: (n) => String(body(n).messages.at(-1)!.content),
    bytes: (n) => JSON.stringify(body(n)).length,
    async close() {
      await house.close();
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}

export const connect = (name: string) => ({ calls: [{ name: "connect_mcp", input: { name } }] });
export const call = (name: string, input: object = {}) => ({ calls: [{ name, input }] });
