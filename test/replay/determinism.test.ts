// Time, ids and chance: below the seams they come from the ledger, so that the same facts give the same decisions. Who asks the machine is listed.
import fs from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";

const src = path.join(import.meta.dirname, "../../src");

/** Calls that no build answers twice alike. */
const ASKS = new Set([
  "Date.now",
  "Math.random",
  "performance.now",
  "randomUUID",
  "randomBytes",
  "newId",
  "monotonicMs",
]);

/** Where they are used, and why no decision that is compared rests on them. */
const LISTED: Record<string, string> = {
  "loop/agent.ts: Date.now": "since when a process holds the agent: recorded as resumedAt where it counts",
  "loop/agent.ts: newId": "ids of turns and inputs: afterwards read from the ledger",
  "loop/bell.ts: Date.now": "when a host looks again: no fact of an agent",
  "loop/drive.ts: Date.now": "how long a turn took, for whoever watches",
  "loop/host.ts: newId": "the id of a new context",
  "loop/hosting.ts: Date.now": "when a host looks again: no fact of an agent",
  "loop/machine.ts: Date.now": "how long a machine was not seen: hosts only",
  "loop/waiting-list.ts: Date.now": "when a host looks again",
  "loop/loop.ts: Date.now": "when calls were asked for: measured, recorded",
  "loop/model-calls.ts: monotonicMs": "how long model calls take: measured",
  "loop/tool-calls.ts: Date.now": "how long a call took: measured, recorded",
  "mechanisms/approvals/index.ts: newId": "the id of a question: afterwards read from the ledger",
  "mechanisms/budget/index.ts: Date.now": "whether a reservation is of a call that nobody makes any more",
  "mechanisms/cron/index.ts: Date.now": "the clock of schedules, an option; what fires comes from outside",
  "mechanisms/cron/plan.ts: newId": "a tool's result",
  "mechanisms/files/glob.ts: Date.now": "a tool's result",
  "mechanisms/files/grep.ts: Date.now": "a tool's result",
  "mechanisms/hooks/index.ts: Date.now": "how long a hook took: measured; what it says comes from outside",
  "mechanisms/hooks/long-text.ts: newId": "the name of a file beside the ledger",
  "mechanisms/hooks/transcript-places.ts: Date.now": "when old files are removed",
  "mechanisms/jobs/*": "processes: what becomes of them comes from outside",
  "mechanisms/mcp/*": "servers: what they offer and say comes from outside",
  "mechanisms/memory/memories.ts: newId": "a tool's result, in another ledger",
  "mechanisms/memory/reading.ts: newId": "a context of its own",
  "mechanisms/recovery/backoff.ts: Math.random": "how long a retry waits: drawn by lot, recorded, compared without it",
  "mechanisms/surroundings/day-and-branch.ts: new Date": "the day: comes from outside, recorded when it is said",
  "mechanisms/tasks/files.ts: randomBytes": "the name of a file",
  "mechanisms/tasks/index.ts: Date.now": "when the board is swept",
  "mechanisms/tasks/orphans.ts: Date.now": "when the board is swept",
  "mechanisms/team/decide.ts: newId": "a tool's result",
  "mechanisms/team/index.ts: newId": "an input that a hook gave: comes from outside",
  "mechanisms/worktrees/away.ts: Date.now": "how long what ledgers tell of trees of other machines is not read again",
  "mechanisms/worktrees/turns.ts: Date.now": "how long one waits for a lock",
};

// biome-ignore lint/suspicious/noExplicitAny: nodes of every kind
type Node = any;

const nameOf = (node: Node): string | undefined => {
  if (node?.type === "Identifier") return node.name;
  return node?.type === "MemberExpression" && !node.computed
    ? `${nameOf(node.object)}.${node.property.name}`
    : undefined;
};

function asksIn(source: string): Set<string> {
  const found = new Set<string>();
  const look = (node: Node): void => {
    if (Array.isArray(node)) for (const one of node) look(one);
    if (typeof node?.type !== "string") return;
    if (node.type === "NewExpression" && nameOf(node.callee) === "Date" && node.arguments.length === 0)
      found.add("new Date");
    // Handed on (`now = Date.now`) is asked too; an import is not.
    if (node.type === "MemberExpression" && ASKS.has(nameOf(node) ?? "")) found.add(nameOf(node)!);
    if (node.type === "CallExpression" && ASKS.has(nameOf(node.callee) ?? "")) found.add(nameOf(node.callee)!);
    for (const [key, value] of Object.entries(node)) if (key !== "parent") look(value);
  };
  look(parseAst(source, { lang: "ts" }).body);
  return found;
}

test("the loop and the mechanisms ask no clock and no chance but where it is listed, with the reason", () => {
  const files = fs.globSync("{loop,mechanisms}/**/*.ts", { cwd: src });
  const used = files.flatMap((file) =>
    [...asksIn(fs.readFileSync(path.join(src, file), "utf8"))].map((what) => `${file}: ${what}`),
  );
  const wholes = Object.keys(LISTED).filter((entry) => entry.endsWith("/*"));
  const rest = used.filter((one) => !wholes.some((whole) => one.startsWith(whole.slice(0, -1))));
  expect(rest.sort()).toEqual(
    Object.keys(LISTED)
      .filter((entry) => !wholes.includes(entry))
      .sort(),
  );
});

test("a clock that a mechanism would ask is seen", () => {
  const source =
    "import { newId } from 'x'; const now = Date.now; export const f = () => [new Date(), new Date(0), newId('a')];";
  expect([...asksIn(source)].sort()).toEqual(["Date.now", "new Date", "newId"]);
});
