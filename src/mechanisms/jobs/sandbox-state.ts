// Whether there is a sandbox here: it is tried, once for each boot.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir } from "../../ledger/make-dir.ts";
import { findProgram, searchPath } from "../../ledger/programs.ts";
import { bootId } from "./process.ts";

export type SandboxState = { works: true; bwrap: string } | { works: false; why: string };

/** Tried once for each boot and version; what came of it is kept in `dir`. */
export function probeSandbox(dir: string, project?: string): SandboxState {
  const bwrap = findProgram("bwrap", searchPath(project));
  if (!bwrap) return { works: false, why: "bubblewrap is not installed (apt-get install bubblewrap)" };
  const file = join(dir, "sandbox.json");
  const key = `2 ${bootId()} ${bwrap} ${statSync(bwrap).mtimeMs} ${process.getuid?.()}`;
  try {
    const kept = JSON.parse(readFileSync(file, "utf8"));
    if (kept.key === key) return kept.state;
  } catch {
    // not tried yet
  }
  // As commands run: in two layers.
  const outer = [
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--dev-bind",
    "/proc",
    "/proc",
  ];
  const inner = ["--unshare-user", "--unshare-pid", "--cap-drop", "ALL", "--dev-bind", "/", "/", "--proc", "/proc"];
  const args = [
    ...outer,
    "--dev",
    "/dev",
    "--tmpfs",
    "/run",
    "--",
    bwrap,
    ...inner,
    "--ro-bind",
    "/proc/sys",
    "/proc/sys",
    "/bin/true",
  ];
  const tried = spawnSync(bwrap, args, { encoding: "utf8", timeout: 10_000 });
  const why = tried.stderr?.trim().split("\n")[0] || tried.error?.message || `exit code ${tried.status}`;
  const state: SandboxState =
    tried.status === 0 ? { works: true, bwrap } : { works: false, why: `bubblewrap does not work here: ${why}` };
  makeDir(dir);
  rmSync(file, { force: true }); // one of an older version is readable by others
  writeFileSync(file, JSON.stringify({ key, state }), { mode: 0o600 });
  return state;
}
