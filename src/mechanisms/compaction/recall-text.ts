// How the model reads what was recalled: where it comes from, how it ended and what has become of it first; then the thing itself, as data.
import type { RecallEnd, Recalled, RecallHits, RecallSince } from "../../contexts/recall.ts";
import type { Content } from "../../models/model.ts";

/** `alice/c17` names its agent. */
export function splitRef(given: string): { agent?: string; ref: string } {
  const at = given.lastIndexOf("/");
  const ref = given.slice(at + 1).replace(/^[CRU](?=\d+$)/, (letter) => letter.toLowerCase());
  return at < 0 ? { ref } : { agent: given.slice(0, at), ref };
}

type Reader = { agent: string };
type Of = Pick<Recalled, "agent" | "ref" | "kind" | "isNote" | "from" | "tool" | "end" | "since" | "isAbandoned">;

export function shownPart(part: Recalled, reader: Reader): Content[] {
  const facts = [whatOf(part), ...fate(part), ...linesOf(part)];
  const head = `[${nameFor(part, reader)}: ${facts.join("; ")}]`;
  const asked = part.input === undefined ? "" : `\n${JSON.stringify(part.input)}`;
  const content = part.content.filter((one) => one.type !== "text" || one.text !== "");
  const calls = (part.calls ?? []).map(({ ref, tool }) => `${ref} ${tool}`).join(", ");
  return [
    { type: "text", text: `${head}${asked}\n` },
    ...content,
    ...(calls === "" ? [] : [{ type: "text" as const, text: `\n[it called ${calls}]` }]),
  ];
}

const nameFor = ({ agent, ref }: Of, reader: Reader): string => (agent === reader.agent ? ref : `${agent}/${ref}`);

function whatOf({ kind, isNote, from, tool, end }: Of): string {
  if (kind === "reply") return "a reply";
  if (kind === "said")
    return from === undefined ? (isNote ? "a note of the harness" : "said to it") : `said to it by ${from}`;
  return end ? `${tool}, ${endText(end)}` : (tool ?? "a call");
}

function endText({ outcome, exitCode }: RecallEnd): string {
  if (outcome === "open") return "no result yet";
  if (outcome === "stopped") return "stopped while it ran";
  return exitCode === undefined || outcome === "not run" ? outcome : `exit code ${exitCode}`;
}

const ABANDONED = "on a timeline that a restore abandoned";

const fate = ({ since, isAbandoned }: Of): string[] => [
  ...since.map(sinceText),
  ...(isAbandoned ? [`it lies ${ABANDONED}`] : []),
];

function sinceText({ what, ref, tool, isAbandoned, ...end }: RecallSince): string {
  const done = what === "changed" ? "the file was changed later" : "done again later";
  return `${done}: ${ref} ${tool}, ${endText(end)}${isAbandoned ? ` (${ABANDONED})` : ""}`;
}

function linesOf({ lines, ref }: Recalled): string[] {
  if (!lines) return [];
  const { from, to, of } = lines;
  return [`lines ${from}-${to} of ${of}${to < of ? `, ${ref} goes on with offset ${to + 1}` : ""}`];
}

export function shownHits(
  { hits, hasMore }: RecallHits,
  { query, agent }: { query: string; agent: string },
  reader: Reader,
): string {
  const whose = agent === reader.agent ? "this conversation" : `the conversation of ${agent}`;
  if (hits.length === 0) return `nothing in ${whose} has ${JSON.stringify(query)}`;
  const lines = hits.map((hit) => {
    const further = hit.further > 0 ? ` (and ${hit.further} more there)` : "";
    const where = hit.inInput ? "what was asked, line" : "line";
    return `[${[`${nameFor(hit, reader)}: ${whatOf(hit)}`, ...fate(hit), `${where} ${hit.line}`].join("; ")}] ${hit.text}${further}`;
  });
  const rest = hasMore ? ["[older parts have it too: ask for more words to find them]"] : [];
  return ["[the newest first; recall shows any of them whole, by its name]", ...lines, ...rest].join("\n");
}
