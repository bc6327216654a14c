// Connecting the servers that a type of agent names, when such an agent begins: all at once, and its first request waits for them within a bound.
import type { Turn } from "../../loop/seams.ts";
import { withoutResult } from "./outcome-text.ts";
import type { McpServer } from "./port.ts";
import type { Servers } from "./servers.ts";

/** Contract: resolves when all are connected or have failed, or after `waitMs`: those that come later are there for the next round. */
export async function connectForStart(
  fresh: readonly McpServer[],
  { servers, turn, waitMs }: { servers: Pick<Servers, "open">; turn: Turn; waitMs: number },
): Promise<void> {
  if (fresh.length === 0) return;
  const say = (text: string) => turn.emit({ type: "status", text });
  const waiting = new Set(fresh);
  const opening = fresh.map(async (server) => {
    const outcome = await servers.open(server, { signal: turn.signal });
    waiting.delete(server);
    if (outcome.kind === "done" || outcome.kind === "aborted") return;
    const { content } = withoutResult(server, outcome, { what: `connecting ${server.name}` });
    say(`${turn.agent} begins without a server: ${String(content)}`);
  });
  const all = Promise.all(opening.map((one, i) => one.catch((error) => say(`${fresh[i]!.name}: ${String(error)}`))));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  await Promise.race([all, late]);
  clearTimeout(timer);
  for (const { name } of waiting)
    say(
      `the MCP server ${name} has not answered within ${waitMs / 1000} s: the first request goes without its tools, which come when it has`,
    );
}
