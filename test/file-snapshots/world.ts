// Real projects in temporary folders, and what can be seen of them: every path with mode, target and content.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { type FileLimits, openFileKeeper, type SnapshotKeeper } from "../../src/file-snapshots/index.ts";
import { tempDir } from "../house.ts";

export interface World {
  root: string;
  state: string;
  keeper: SnapshotKeeper;
  git(...args: string[]): string;
  write(file: string, content: string | Buffer, mode?: number): void;
  read(file: string): string;
  /** Another keeper on the same state, as in another process. */
  again(limits?: FileLimits): SnapshotKeeper;
}

export const gitEnv = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

export function openWorld(opts: { git?: boolean; root?: string; limits?: FileLimits } = {}): World {
  const root = opts.root ?? tempDir("files");
  const state = path.join(tempDir("state"), "files");
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, env: gitEnv, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (opts.git !== false && opts.root === undefined) git("init", "-q", "-b", "main");
  const again = (limits?: FileLimits) => openFileKeeper({ root, dir: state, limits: { ...opts.limits, ...limits } });
  return {
    root,
    state,
    keeper: again(),
    git,
    again,
    write(file, content, mode) {
      const full = path.join(root, file);
      fs.mkdirSync(path.dirname(full), { recursive: true });
      fs.writeFileSync(full, content);
      if (mode !== undefined) fs.chmodSync(full, mode);
    },
    read: (file) => fs.readFileSync(path.join(root, file), "utf8"),
  };
}

/** Every path below a folder except the state of repositories: kind, mode, content or target. */
export function treeOf(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (dir: Buffer, shown: string) => {
    for (const name of fs.readdirSync(dir, { encoding: "buffer" })) {
      if (name.toString("latin1") === ".git") continue;
      const file = Buffer.concat([dir, Buffer.from("/"), name]);
      const at = shown + name.toString("latin1");
      const stat = fs.lstatSync(file);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) {
        found[`${at}/`] = `dir ${mode}`;
        visit(file, `${at}/`);
      } else if (stat.isSymbolicLink()) {
        found[at] = `link ${fs.readlinkSync(file, { encoding: "buffer" }).toString("latin1")}`;
      } else if (stat.isFile()) found[at] = `file ${mode} ${sha(fs.readFileSync(file))}`;
      else found[at] = `other ${mode}`;
    }
  };
  visit(Buffer.from(root), "");
  return found;
}

/** Everything in a repository's own state: names, modes, times, content. */
export function gitStateOf(gitDir: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(gitDir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const stat = fs.lstatSync(file);
    const content = stat.isFile() ? sha(fs.readFileSync(file)) : "";
    found[path.relative(gitDir, file)] = `${stat.mode.toString(8)} ${stat.mtimeMs} ${stat.nlink} ${content}`;
  }
  return found;
}

const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex").slice(0, 16);
