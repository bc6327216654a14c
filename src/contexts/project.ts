// Owns where state lives: one folder per project under the user's state directory, never inside the repository.
import { createHash, randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { HoldfastError } from "../ledger/error.ts";

export interface Project {
  id: string;
  /** The directory that the work happens in. */
  root: string;
  /** Folder of this project's state: ledger, jobs. */
  stateDir: string;
  /** The SQLite file that holds its ledgers. */
  ledgerFile: string;
}

export function stateHome(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env.XDG_STATE_HOME || path.join(env.HOME || os.homedir(), ".local", "state"), "holdfast");
}

/**
 * The project that a directory belongs to. `state` replaces the state directory; `sqlite:FILE` names the very file.
 * The id is a UUID kept in the state directory for the canonical path; it is never read from the repository.
 */
export function openProject(opts: { cwd: string; state?: string; env?: NodeJS.ProcessEnv }): Project {
  const cwd = realDirectory(opts.cwd);
  const state = opts.state ?? stateHome(opts.env);
  if (/^rediss?:/.test(state))
    throw new HoldfastError("invalid", "--state redis://… is not there yet: use a directory or sqlite:FILE");
  const home = path.resolve(state.replace(/^(sqlite|file):(\/\/)?/, ""));
  if (state.startsWith("sqlite:")) {
    const stateDir = path.dirname(home);
    fs.mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    return { id: projectId(stateDir, cwd), root: cwd, stateDir, ledgerFile: home };
  }
  const key = canonical(cwd);
  const stateDir = path.join(home, "projects", createHash("sha256").update(key).digest("hex").slice(0, 16));
  if (!fs.existsSync(stateDir)) fs.mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  return { id: projectId(stateDir, key), root: cwd, stateDir, ledgerFile: path.join(stateDir, "ledger.db") };
}

function realDirectory(dir: string): string {
  try {
    const real = fs.realpathSync(dir);
    if (fs.statSync(real).isDirectory()) return real;
  } catch (error) {
    throw new HoldfastError("invalid", `${dir} is not a directory that can be opened: give another --cwd`, {
      cause: error,
    });
  }
  throw new HoldfastError("invalid", `${dir} is not a directory: give another --cwd`);
}

/** The git common directory (all worktrees of a repository are one project), or the folder itself. Reads files; runs nothing. */
function canonical(cwd: string): string {
  for (let dir = cwd; ; dir = path.dirname(dir)) {
    const git = path.join(dir, ".git");
    const stat = fs.statSync(git, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return git;
    if (stat?.isFile()) return commonDir(dir, git) ?? git;
    if (dir === path.dirname(dir)) return cwd;
  }
}

function commonDir(dir: string, gitFile: string): string | undefined {
  const target = /^gitdir:\s*(.+)$/m.exec(fs.readFileSync(gitFile, "utf8"))?.[1]?.trim();
  if (!target) return undefined;
  const gitDir = path.resolve(dir, target);
  try {
    return fs.realpathSync(path.resolve(gitDir, fs.readFileSync(path.join(gitDir, "commondir"), "utf8").trim()));
  } catch {
    return gitDir;
  }
}

/** Created once, whole or not at all: a second process that comes at the same time reads the first one's. */
function projectId(stateDir: string, key: string): string {
  const file = path.join(stateDir, "project.json");
  for (;;) {
    try {
      return (JSON.parse(fs.readFileSync(file, "utf8")) as { id: string }).id;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
        throw new HoldfastError("invalid", `${file} cannot be read: move it away and start again`, { cause: error });
      }
    }
    const fresh = `${file}.${process.pid}`;
    fs.writeFileSync(fresh, `${JSON.stringify({ id: randomUUID(), path: key })}\n`, { mode: 0o600, flush: true });
    try {
      fs.linkSync(fresh, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      fs.unlinkSync(fresh);
    }
    const folder = fs.openSync(stateDir, "r");
    fs.fsyncSync(folder); // after a power loss the name is there with its content, or not at all
    fs.closeSync(folder);
  }
}
