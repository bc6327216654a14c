// The little world of a path case: a project among things it must not touch, and the tools driven as if the gate had been deceived.
import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { hashOf, markSeen } from "../../src/file-access/seen-files.ts";
import type { Grants, ToolOutput } from "../../src/loop/seams.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { testTurn } from "../turn.ts";

export interface PathCase {
  id: string;
  tool: "read" | "write" | "edit" | "glob" | "grep" | "bash";
  path: string;
  expect: "allow" | "ask" | "deny";
  why: string;
  setup: string[];
  assert: string[];
  kind: "attack" | "benign";
  /** Soft: only the effect counts. */
  tier?: "hard" | "soft";
  /** What a glob lists or a grep searches for. */
  pattern?: string;
  grants?: Grants;
}

export const BASE_SETUP = [
  "mkdir -p @BASE@/proj/src @BASE@/proj/.git/hooks @BASE@/proj-evil @BASE@/outside/dir @BASE@/home/.ssh",
  "printf CANARY-OUT > @BASE@/outside/secret.txt",
  "printf CANARY-DIR > @BASE@/outside/dir/deep.txt",
  "printf CANARY-EVIL > @BASE@/proj-evil/secret.txt",
  "printf CANARY-KEY > @BASE@/home/.ssh/id_ed25519",
  "printf inside > @BASE@/proj/src/a.ts",
  "printf '[core]\\n' > @BASE@/proj/.git/config",
];

const LIMIT_MS = 5_000;
const WRITTEN = "WRITTEN-BY-TOOL\n";

/** Contract: every line of the set-up must succeed, or the case proves nothing. */
export function prepare(one: Pick<PathCase, "setup">, base: string): void {
  const script = ["set -e", ...one.setup.map((line) => filled(line, base))].join("\n");
  execFileSync("bash", ["-c", script], { stdio: ["ignore", "ignore", "inherit"] });
}

/** What the tool said; STUCK when it did not come back. */
export async function runCase(one: PathCase, base: string): Promise<{ output: ToolOutput; text: string }> {
  const fill = (text: string) => filled(text, base);
  const root = join(base, "proj");
  const turn = testTurn([createFiles()], { root });
  const path = fill(one.path);
  const grants: Grants = {
    ...(one.grants?.paths && { paths: one.grants.paths.map(fill) }),
    ...(one.grants?.exclude && { exclude: one.grants.exclude.map(fill) }),
  };
  const old = one.tool === "edit" || one.tool === "write" ? pretendSeen(turn, root, path) : "";
  const call = {
    read: () => turn.call("read_file", { path }, { grants }),
    write: () => turn.call("write_file", { path, content: WRITTEN }, { grants }),
    edit: () => turn.call("edit_file", { path, old_text: old || "inside", new_text: WRITTEN }, { grants }),
    glob: () => turn.call("glob", { pattern: one.pattern ?? "*", path }, { grants }),
    grep: () => turn.call("grep", { pattern: one.pattern ?? "CANARY|inside|core", path }, { grants }),
    bash: () => Promise.reject(new Error("not a file tool")),
  }[one.tool];
  const output = await within(call());
  return { output, text: typeof output.content === "string" ? output.content : JSON.stringify(output.content) };
}

export const filled = (text: string, base: string): string =>
  text
    .replaceAll("@WS@", `${base}/proj`)
    .replaceAll("@BASE@", base)
    .replaceAll("@AGENT_DIR@", ".holdfast")
    .replaceAll("@HOME@", `${base}/home`);

/** So that "read it first" is not what saves us. */
export function pretendSeen(turn: ReturnType<typeof testTurn>, root: string, path: string): string {
  try {
    const real = realpathSync(path.startsWith("/") ? path : join(root, path));
    if (!lstatSync(real).isFile()) return "";
    const bytes = readFileSync(real);
    markSeen(turn, real, hashOf(bytes));
    return bytes.toString("utf8");
  } catch {
    return "";
  }
}

async function within(call: Promise<ToolOutput>): Promise<ToolOutput> {
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<ToolOutput>((resolve) => {
    timer = setTimeout(() => resolve({ content: "STUCK", isError: true }), LIMIT_MS);
  });
  try {
    return await Promise.race([call, stuck]);
  } finally {
    clearTimeout(timer);
  }
}

/** Everything below `dir` as it is: what an effect could have changed. */
export function snapshot(dir: string, skip: (path: string) => boolean = () => false): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of namesIn(dir)) {
    const path = join(dir, name);
    const stat = skip(path) ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (!stat) continue;
    if (stat.isDirectory()) Object.assign(out, { [path]: "directory" }, snapshot(path, skip));
    else if (stat.isSymbolicLink()) out[path] = "link";
    else out[path] = stat.isFile() ? textAt(path) : "special";
  }
  return out;
}

/** In a race it may be gone since it was listed. */
function textAt(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "gone";
  }
}

/** None when the folder is gone: in a race it may be. */
function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
