// Owns the boundary: tools work inside the directory the context was started in, and nowhere else.
import { defineMechanism, type GateCall, type Mechanism, type Verdict } from "../../loop/seams.ts";
import { isInside, realPath, resolvePath } from "../../tools/paths.ts";

const PERMISSION_MODES = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "bypass"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export interface BoundaryOptions {
  /** Default: the root of the context. */
  root?: string;
  mode?: PermissionMode;
  /** Directories that may be read besides. */
  readable?: string[];
  /** Tools that the embedding program brought: it answers for them. */
  trusted?: string[];
}

const READS = new Set(["read_file", "glob", "grep"]);
const WRITES = new Set(["write_file", "edit_file", "multi_edit"]);
/** They reach only jobs of their own context. */
const JOBS = new Set(["job_output", "job_kill", "list_jobs"]);

export function createBoundary(opts: BoundaryOptions = {}): Mechanism {
  const allowsAll = opts.mode === "bypass" || opts.mode === "bypassPermissions";
  return defineMechanism({
    name: "permissions",
    seams: { gate: { judge: (call) => (allowsAll ? ALLOW : judge(call, opts)) } },
  });
}

const ALLOW: Verdict = { decision: "allow" };
const deny = (reason: string): Verdict => ({ decision: "deny", reason });

function judge({ tool, input, turn }: GateCall, opts: BoundaryOptions): Verdict {
  if (tool.effect === "internal" || JOBS.has(tool.name) || opts.trusted?.includes(tool.name)) return ALLOW;
  const root = realPath(opts.root ?? turn.root);
  if (tool.name === "bash") {
    return isInside(root, realPath(turn.cwd)) ? ALLOW : deny(`${turn.cwd} is outside ${root}`);
  }
  const reads = READS.has(tool.name);
  if (!reads && !WRITES.has(tool.name)) return deny(`${tool.name} is not allowed here`);
  const path = (input as { path?: string }).path ?? ".";
  if (reads && path.startsWith("blob:")) return ALLOW;
  const real = realPath(resolvePath(turn.cwd, path));
  const roots = reads ? [root, ...(opts.readable ?? []).map(realPath)] : [root];
  return roots.some((r) => isInside(r, real)) ? ALLOW : deny(`${path} is outside ${root}`);
}
