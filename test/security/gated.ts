// Driving one call as the loop does: the gate judges, and only what it allows is run, with what it granted. Commands run in their sandbox.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PermissionMode } from "../../src/claude-code/permission-modes.ts";
import type { Tool, ToolOutput } from "../../src/loop/seams.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { createSandbox } from "../../src/mechanisms/jobs/sandbox.ts";
import { createPermissions } from "../../src/mechanisms/permissions/index.ts";
import { state } from "../jobs/sandboxed.ts";
import { testTurn } from "../turn.ts";
import { filled, pretendSeen } from "./world.ts";

export type GatedTool = "read" | "write" | "edit" | "multi" | "glob" | "grep" | "bash";

interface Rules {
  allow?: string[];
  ask?: string[];
  deny?: string[];
}

export interface GatedCall {
  tool: GatedTool;
  path: string;
  mode: PermissionMode;
  pattern?: string;
  /** Files that grep looks into. */
  glob?: string;
  rules?: Rules;
  /** Directories added to the project. */
  add?: string[];
  /** Where the agent is, the project itself, the home; all below the base. */
  cwd?: string;
  root?: string;
  home?: string;
  /** A person says yes where the gate asks. */
  approved?: boolean;
}

export interface Attempt {
  decision: "allow" | "ask" | "deny";
  refused: boolean;
  text: string;
}

const WRITTEN = "WRITTEN-BY-TOOL\n";
const NAMES = {
  read: "read_file",
  write: "write_file",
  edit: "edit_file",
  multi: "multi_edit",
  glob: "glob",
  grep: "grep",
  bash: "bash",
};

export async function attempt(one: GatedCall, base: string): Promise<Attempt> {
  const fill = (text: string) => filled(text, base);
  const place = (text: string | undefined, otherwise: string) => fill(text ?? otherwise);
  const root = place(one.root, "@WS@");
  const home = place(one.home, "@HOME@");
  const add = (one.add ?? []).map(fill);
  const kept = realpathSync(mkdtempSync(join(tmpdir(), "kept-")));
  try {
    const sandbox = one.tool === "bash" ? sandboxFor({ root, home, dir: join(kept, "own"), add }) : [];
    const mechanisms = [createFiles(), ...sandbox.map((s) => createJobs({ dir: join(kept, "jobs"), sandbox: s }))];
    const turn = testTurn(mechanisms, { root });
    turn.cwd = place(one.cwd, root);
    const texts = (list: string[] = []) => list.map((text) => ({ text: fill(text), source: "test", base: root }));
    const { allow, ask, deny } = one.rules ?? {};
    const policy = { mode: one.mode, allow: texts(allow), ask: texts(ask), deny: texts(deny) };
    const gate = createPermissions({ home, policy, additionalDirectories: add, sandboxed: true }).seams!.gate!;
    const input = inputOf(one, fill(one.path), turn, fill);
    const name = NAMES[one.tool];
    const tool = toolsOf(mechanisms).find((t) => t.name === name)!;
    const verdict = await gate.judge!({ call: { type: "call", id: "c1", name, input }, tool, input, turn });
    const { decision } = verdict;
    if (verdict.decision === "deny" || (verdict.decision === "ask" && !one.approved))
      return { decision, refused: true, text: verdict.reason };
    const output = await turn.call(name, input, { grants: verdict.grants ?? {} });
    return { decision, refused: output.isError === true, text: textOf(output) };
  } finally {
    rmSync(kept, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  }
}

function sandboxFor({ root, home, dir, add }: { root: string; home: string; dir: string; add: string[] }) {
  if (!state.works) throw new Error(state.why);
  mkdirSync(dir, { recursive: true });
  return [createSandbox(state.bwrap, { root, home, dir, writable: add })];
}

const toolsOf = (mechanisms: { tools?: unknown }[]): Tool[] => mechanisms.flatMap((m) => (m.tools ?? []) as Tool[]);

function inputOf(one: GatedCall, path: string, turn: ReturnType<typeof testTurn>, fill: (text: string) => string) {
  const old = ["edit", "multi", "write"].includes(one.tool) ? pretendSeen(turn, turn.cwd, path) : "";
  const edit = { old_text: old || "inside", new_text: WRITTEN };
  const where = path === "" ? {} : { path };
  switch (one.tool) {
    case "read":
      return { path };
    case "write":
      return { path, content: WRITTEN };
    case "edit":
      return { path, ...edit };
    case "multi":
      return { path, edits: [edit] };
    case "glob":
      return { pattern: fill(one.pattern ?? "**"), ...where };
    case "grep":
      return { pattern: one.pattern ?? "CANARY|inside", ...where, ...(one.glob ? { glob: fill(one.glob) } : {}) };
    case "bash":
      return { command: path };
  }
}

const textOf = ({ content }: ToolOutput): string => (typeof content === "string" ? content : JSON.stringify(content));
