// Calls of tools other than the shell: file tools by their paths, everything else by name.

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isFileTool, isReader, isSearch } from "../file-access/file-tools.ts";
import { isKept } from "../file-access/kept-results.ts";
import { isRecord } from "../ledger/guards.ts";
import { splitPattern } from "../text/glob.ts";
import { addFinding, type Evaluation } from "./evaluation.ts";
import { allow, ask, askFirm, askRead, deny, type PolicyVerdict } from "./finding.ts";
import { judgePath } from "./path-verdict.ts";
import { findToolRule } from "./rules.ts";
import type { ToolCall } from "./types.ts";

/** They reach only jobs of their own context. */
const JOBS = new Set(["job_output", "job_kill", "list_jobs"]);

/** They make and mark trees of the house, and remove only what is whole elsewhere. */
const WORKTREES = new Set(["create_worktree", "keep_worktree", "remove_worktree"]);

export function judgeTool(evaluation: Evaluation, call: ToolCall): undefined {
  const { rules, world } = evaluation;
  const { tool, input } = call;
  const denied = findToolRule(rules.deny, tool, input, true);
  if (denied) addFinding(evaluation, tool, { ...deny(`the rule ${denied.text} denies it`, "rule"), rule: denied.text });
  const asked = findToolRule(rules.ask, tool, input, true);
  if (asked) addFinding(evaluation, tool, { ...askFirm(`the rule ${asked.text} asks`, "rule"), rule: asked.text });
  if (isFileTool(tool)) return judgeFileTool(evaluation, call);
  if (call.effect === "internal" || JOBS.has(tool) || world.trustedTools.includes(tool))
    return addFinding(evaluation, tool, allow());
  if (WORKTREES.has(tool)) return addFinding(evaluation, tool, { ...allow(), changes: true });
  const allowed = findToolRule(rules.allow, tool, input, false);
  if (!allowed)
    return addFinding(evaluation, tool, {
      ...ask(`${tool} acts outside the project: a person decides`, "tool"),
      reads: call.effect === "read",
    });
  const isNetwork = tool === "web_fetch" || tool === "WebFetch";
  addFinding(evaluation, tool, { ...allow(), changes: call.effect !== "read", rule: allowed.text, network: isNetwork });
}

function judgeFileTool(evaluation: Evaluation, { tool, input }: ToolCall): undefined {
  const given: Record<string, unknown> = isRecord(input) ? input : {};
  const path = given.path === undefined && isSearch(tool) ? "." : given.path;
  if (typeof path !== "string" || path.trim() === "") return addFinding(evaluation, tool, deny("the path is missing"));
  if (tool === "read_file" && isKept(path)) return addFinding(evaluation, path, allow());
  if (isReader(tool)) {
    const pattern = tool === "glob" ? given.pattern : undefined;
    const at = typeof pattern === "string" ? splitPattern({ pattern, path }) : { path, pattern: given.glob };
    addFinding(evaluation, at.path, judgeRead(evaluation, at.path));
    if (typeof at.pattern === "string")
      addFinding(evaluation, at.pattern, judgePattern(evaluation, at.path, at.pattern, tool === "grep"));
    return;
  }
  addFinding(evaluation, path, judgeWrite(evaluation, path));
}

function judgeRead(evaluation: Evaluation, path: string): PolicyVerdict {
  const at = locate(evaluation, path);
  const odd = oddName(path);
  if (odd?.decision === "deny") return odd;
  if (/^\/(?:proc|sys)(?:\/|$)/.test(at)) return deny("kernel files are not read by this tool", "device");
  if (/^\/dev(?:\/|$)/.test(at)) return deny("devices are not read", "device");
  const verdict = judgePath(evaluation, { access: "read", path: at, cwd: evaluation.world.cwd });
  if (verdict.decision !== "deny" && evaluation.world.kind(resolve(evaluation.world.cwd, at)) === "other")
    return deny("it is neither a file nor a directory: reading it may never end", "device");
  return verdict;
}

/** A pattern may climb out, lead through a link, or name secrets. */
function judgePattern(evaluation: Evaluation, base: string, pattern: string, readsContent: boolean): PolicyVerdict {
  if (/(?:^|[/{,(|])\.\.(?:[/},)|]|$)|^\[\.\]|^~(?:\/|$)/.test(pattern))
    return askRead("the pattern leaves the directory", "outside");
  const bare = pattern.replace(/^!/, "");
  const names = bare.split("/");
  const fixed = names.findIndex((name) => /[*?[{]/.test(name));
  const start = names.slice(0, fixed < 0 ? undefined : fixed).join("/");
  const at = (path: string) => join(locate(evaluation, base), path);
  const { cwd } = evaluation.world;
  const place = judgePath(evaluation, { access: "read", path: at(start), cwd, isNameOnly: true });
  if (!readsContent || place.decision !== "allow") return place;
  return judgePath(evaluation, { access: "read", path: at(bare.replace(/\*\*\/?/g, "")), cwd });
}

function judgeWrite(evaluation: Evaluation, path: string): PolicyVerdict {
  const at = locate(evaluation, path);
  const odd = oddName(path);
  if (odd?.decision === "deny") return odd;
  const verdict = judgePath(evaluation, { access: "edit", path: at, cwd: evaluation.world.cwd });
  if (verdict.firm || verdict.decision === "deny") return verdict.decision === "ask" && odd ? odd : verdict;
  if (verdict.code === "temporary")
    return deny("it writes to /tmp, outside the project: commands have a /tmp of their own", verdict.code);
  if (evaluation.world.kind(resolve(evaluation.world.cwd, at)) === "other")
    return deny("it is neither a file nor a directory", "device");
  if (odd) return odd;
  const isFile = evaluation.world.kind(resolve(evaluation.world.cwd, at)) === "file";
  if (isFile && (evaluation.world.links?.(resolve(evaluation.world.cwd, at)) ?? 1) > 1)
    return ask("the file has a second name, maybe outside the project", "outside");
  return verdict;
}

/** `~` is the home directory, unless something of that name lies here: as `resolvePath` takes it. */
function locate(evaluation: Evaluation, path: string): string {
  const { world } = evaluation;
  if (path !== "~" && !path.startsWith("~/")) return path;
  const kind = world.kind(resolve(world.cwd, "~"));
  if (kind === "directory" || (kind !== "missing" && path === "~")) return resolve(world.cwd, path);
  return join(world.home || homedir(), path.slice(1));
}

const DEVICE_NAMES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?$/i;

function oddName(path: string): PolicyVerdict | undefined {
  if (/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(path)) return deny("the path contains control characters", "unreadable");
  if (!path.isWellFormed()) return deny("the path is not valid Unicode", "unreadable");
  if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(path))
    return deny("the path contains marks that change the order of what people read", "unreadable");
  if (/[\u00a0\u00ad\u200b-\u200d\u2060\u3000\ufeff]/.test(path))
    return askFirm("the path contains characters that a reader cannot see", "unreadable");
  const names = path.split("/");
  if (names.some((name) => DEVICE_NAMES.test(name)))
    return askFirm("some systems take the name for a device", "device");
  if (names.some((name) => !/^\.{0,2}$/.test(name) && /[. ]$/.test(name)))
    return askFirm("some systems drop the dot or space at the end of the name");
  return undefined;
}
