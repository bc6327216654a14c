// Who may write which key of the shared data: read from the ledger alone, so that it holds for every tool, process, resume and fork.

import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { entryAt, type FoldState, ownerOfEntry } from "./fold.ts";

/**
 * Who writes. An agent writes what is its own; the program that embeds Holdfast everything but the runtime's records; the runtime those too.
 * Contract: a `runtime` is made by `runtimeOf` only, which no tool of an agent reaches.
 */
export type Writer = { kind: "agent" | "caller" | "runtime"; name: string };

/** What the hub and workflows gather; a list. */
export const RESULTS = "accumulated_results";

/** Whose a key is. */
type Owner =
  | { kind: "runtime" }
  | { kind: "input" }
  | { kind: "person"; phases: string[] }
  | { kind: "phase"; phases: string[]; agents: string[] }
  | { kind: "asked"; agents: string[] }
  | { kind: "private"; agent: string }
  | { kind: "schema" }
  | { kind: "author"; name: string };

const PRIVATE = "agent/";

/** Where the runtime keeps, or older Holdfasts kept, what only it may say. */
const isReserved = (key: string): boolean => key === RESULTS || key === "workflow" || key.startsWith("workflow.");

/** Undefined: nobody's yet, whoever writes it first has it. */
function ownerOf(state: FoldState, key: string): Owner | undefined {
  if (isReserved(key)) return { kind: "runtime" };
  const declared = state.declared.find((one) => one.key === key);
  if (declared?.input) return { kind: "input" };
  if (declared && declared.phases.length === 0) return { kind: "person", phases: declared.people };
  const agents = state.asked.get(key) ?? [];
  if (declared) return { kind: "phase", phases: declared.phases, agents };
  // Agents' names hold dots, but no slash.
  const end = key.startsWith(PRIVATE) ? key.indexOf("/", PRIVATE.length) : -1;
  if (end > 0) return { kind: "private", agent: key.slice(PRIVATE.length, end) };
  if (agents.length > 0) return { kind: "asked", agents };
  if (Object.hasOwn(state.config.schemas, key)) return { kind: "schema" };
  const entry = entryAt(state, key);
  return entry && { kind: "author", name: ownerOfEntry(entry) };
}

/** Contract: throws `refused` with the owner. Called inside the decision, on the state that its guards hold. */
export function authorize(state: FoldState, writer: Writer, key: string, op: "set" | "append" | "remove"): void {
  if (writer.kind === "runtime") return;
  const owner = ownerOf(state, key);
  if (!owner) return;
  const mine = writer.kind === "caller" ? owner.kind !== "runtime" && owner.kind !== "input" : owns(writer.name, owner);
  if (mine || (op === "append" && isOpenList(state, key, owner))) return;
  const advice =
    writer.kind === "caller"
      ? "choose another key"
      : `read it, and write what is yours under another key, such as ${PRIVATE}${writer.name}/${key.slice(0, 40)}`;
  throw new HoldfastError("refused", `${key} ${ownerText(owner)}; nothing was changed: ${advice}`, {
    detail: { key, owner },
  });
}

function owns(agent: string, owner: Owner): boolean {
  if (owner.kind === "phase" || owner.kind === "asked") return owner.agents.includes(agent);
  if (owner.kind === "private") return owner.agent === agent;
  return owner.kind === "author" && owner.name === agent;
}

/** A list that several are meant to fill: declared so for the context, not a phase's own result. */
function isOpenList({ config }: FoldState, key: string, owner: Owner): boolean {
  if (owner.kind !== "schema" && owner.kind !== "author" && owner.kind !== "asked") return false;
  const schema = Object.hasOwn(config.schemas, key) ? config.schemas[key] : undefined;
  return (config.lists?.includes(key) ?? false) || (isRecord(schema) && schema.type === "array");
}

function ownerText(owner: Owner): string {
  switch (owner.kind) {
    case "runtime":
      return "is a record of the runtime, which alone writes it";
    case "input":
      return "is an input of the workflow, which nobody changes while it runs";
    case "person":
      return `is what a person answers to ${owner.phases.join(", ")}`;
    case "phase":
      return `belongs to the phase ${owner.phases.join(", ")}`;
    case "asked":
      return `belongs to ${owner.agents.slice(-3).join(", ")}, asked to export it`;
    case "private":
      return `is private to ${owner.agent}`;
    case "schema":
      return "is declared by the schema of this context and belongs to whoever made it";
    case "author":
      return `belongs to ${owner.name}, who wrote it first`;
  }
}
