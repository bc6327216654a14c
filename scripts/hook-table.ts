// The table of hook events in docs/hooks.md, written from src/claude-code/hook-events.ts.
import { HOOK_EVENTS, type HookEvent, ruleOf } from "../src/claude-code/hook-events.ts";

const BEGIN = "<!-- from src/claude-code/hook-events.ts: node scripts/generate.mjs -->\n";
const END = "<!-- end -->";

/** The page with the table of now. */
export function withHookTable(page: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/hooks.md has lost its marks: ${BEGIN.trim()} … ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n${table()}\n${page.slice(to)}`;
}

function table(): string {
  const fired = HOOK_EVENTS.filter((event) => ruleOf(event).never === undefined);
  const others = HOOK_EVENTS.filter((event) => ruleOf(event).never !== undefined);
  return [
    '| event | when | what a block does (exit 2, `decision: "block"`) | late¹ | matcher | its input besides |',
    "| --- | --- | --- | --- | --- | --- |",
    ...fired.map(row),
    "",
    "Known, and never fired yet:",
    "",
    "| event | why not |",
    "| --- | --- |",
    ...others.map((event) => `| \`${event}\` | ${ruleOf(event).never} |`),
    "",
  ].join("\n");
}

function row(event: HookEvent): string {
  const { when, blocks = "–", failsClosed, inBackground, matches, tells = [] } = ruleOf(event);
  const late = inBackground ? "–²" : failsClosed ? "blocks" : "reported";
  const matcher = matches === undefined ? "–" : matches === "tool" ? "tool" : `\`${matches}\``;
  const fields = tells.length === 0 ? "–" : tells.map((field) => `\`${field}\``).join(", ");
  return `| \`${event}\` | ${when} | ${blocks} | ${late} | ${matcher} | ${fields} |`;
}
