// Owns what a command sees of the machine: the arguments of bubblewrap, and whether it works here.
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { makeDir } from "../../ledger/make-dir.ts";
import type { JobSpec } from "../../tools/job-runner.ts";
import { isInside } from "../../tools/paths.ts";
import { GIT_PROTECTED, PROTECTED, SECRETS, SYSTEM_SECRETS, TOOLS } from "./sandbox-places.ts";

export interface SandboxOptions {
  /** The project: writable but for what is protected; only readable for a command that has a tree of its own. */
  root: string;
  home: string;
  /** Holds what is private to each context: its /tmp, and its home. */
  dir: string;
  /** Holds the ledger, the jobs, and what is private to other contexts: not seen, wherever it lies. */
  state?: string;
  /** Trees besides that commands may read, or write. */
  readable?: string[];
  writable?: string[];
  /** For every command. */
  network?: boolean;
}

/**
 * How commands of one kind are shut in. What they see of the machine is put together once, around their supervisor: that is most of
 * what a sandbox costs. Each command then has its own processes, and no rights.
 */
export interface Enclosure {
  /** Which kind. */
  kind: string;
  /** Goes before the supervisor: what these commands see, and a network of their own. The directories of jobs come after it. */
  outer: string[];
  /** Goes before the shell; empty: nothing holds it. */
  wrap: string[];
  /** Must not come to exist: taken away when the command has ended. */
  absent: string[];
  /** Not there to be mounted, and a command may have made it since: while one of these runs, it is not mounted for another either. */
  unmade: string[];
  /** Which files are mounted: others in their place are another enclosure. */
  stamp: string;
}

/** Where the supervisor sees the directories of jobs; its commands see nothing there. */
export const JOBS_SEEN = "/run/holdfast";

/** `unsure`: what a running command may have made or moved since it was looked at for it. */
export type Enclose = (spec: JobSpec, unsure?: ReadonlySet<string>) => Enclosure;

export function createSandbox(bwrap: string, opts: SandboxOptions): Enclose {
  const project = realpathSync.native(opts.root);
  const home = isDirectory(opts.home) && opts.home !== "/" ? opts.home : undefined; // some have none
  // A /proc that is read-only would keep the commands from having one of their own.
  const always = [
    ...[bwrap, "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--ro-bind", "/", "/", "--dev-bind", "/proc", "/proc", "--dev", "/dev"],
    ...["--tmpfs", "/run", ...hidden("/home", "/root", "/mnt", "/media")],
    ...SYSTEM_SECRETS.flatMap((path) => mask(path)),
  ];
  const each = [
    ...[bwrap, "--unshare-user", "--unshare-pid", "--die-with-parent", "--cap-drop", "ALL"],
    // Settings of the kernel belong to root, and so does a command of root, even without rights.
    ...["--dev-bind", "/", "/", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--tmpfs", JOBS_SEEN],
  ];
  // As they are now: a command may put a link, or another directory, in the place of one of them.
  const writable = (opts.writable ?? []).filter((path) => existsSync(path)).map(realOr);
  const identities = new Map(writable.map((path) => [path, identity(path)]));
  const isSame = (path: string) => realOr(path) === path && identity(path) === identities.get(path);
  /** Of the home, in a tree that holds it. */
  const secretsIn = (tree: string, unsure: ReadonlySet<string>) => {
    if (!home || !isInside(tree, home)) return { unmade: [], args: [] };
    const parents = SECRETS.map((name) => join(home, dirname(name)));
    const { unmade, args } = pinned(tree, [home, ...parents], unsure);
    return { unmade, args: [...args, ...SECRETS.flatMap((name) => mask(join(home, name)))] };
  };
  const hide = (within: (dir: string) => boolean): string[] =>
    opts.state !== undefined && within(opts.state) ? mask(opts.state) : [];
  const tools = home ? TOOLS.map((name) => join(home, name)) : [];
  const enclose = (
    kind: string,
    { context, root, network, git, granted }: Wanted,
    unsure: ReadonlySet<string>,
  ): Enclosure & { watched: string[] } => {
    const own = join(opts.dir, context);
    for (const name of ["tmp", "home"]) makeDir(join(own, name));
    const absent: string[] = [];
    const guarded: string[] = [];
    const here = writable.filter(isSame);
    const mounted = [root, ...here, ...(home ? [join(home, ".gitconfig")] : [])].map(identity);
    const ofProject = secretsIn(project, unsure);
    const ofRoot = secretsIn(root, unsure);
    const unmade = [...ofProject.unmade, ...ofRoot.unmade];
    const guard = (path: string) => {
      if (granted.includes(path)) return;
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (unsure.has(path) && stat && basename(path) === ".git")
        unmade.push(path); // it may well be somebody's work
      else if (!stat || unsure.has(path)) absent.push(path);
      else if (!stat.isSymbolicLink()) guarded.push("--ro-bind", path, path); // a mount cannot hold a link; trust holds its content
      mounted.push(identity(path));
    };
    for (const name of PROTECTED) if (name !== ".git" || !git) guard(join(root, name));
    const elsewhere = gitElsewhere(root);
    const inside = elsewhere ? undefined : gitInside(root);
    const repository = elsewhere?.common ?? inside ?? join(root, ".git");
    // What a command made a link is nobody's to mount: it would be followed. A mount point cannot be moved away, nor another put in its place.
    const isSure = (path: string) => isPlain(path) && !unsure.has(path);
    if (inside !== undefined && isSure(inside)) {
      const above = pinned(root, [dirname(inside)], unsure);
      unmade.push(...above.unmade);
      guarded.push(...above.args, ...(git ? [] : ["--ro-bind", inside, inside]));
      mounted.push(identity(inside));
      if (git) guard(join(root, ".git"));
    }
    if (git && isSure(repository)) {
      if (!elsewhere) guarded.push("--bind", repository, repository);
      for (const name of GIT_PROTECTED) guard(join(repository, name));
      // Other worktrees are not this command's: what the repository keeps of them decides whether they live.
      const others = join(repository, "worktrees");
      if (isSure(others)) guarded.push("--ro-bind", others, others);
      else unmade.push(others);
    } else if (git && isFile(join(root, ".git"))) guard(join(root, ".git"));
    else if (git) unmade.push(repository);
    if (git && elsewhere) {
      guard(join(root, ".git"));
      guarded.push("--bind", elsewhere.own, elsewhere.own);
      for (const name of ["commondir", "gitdir", "config.worktree"]) guard(join(elsewhere.own, name));
    }
    return {
      kind,
      stamp: `${mounted.join()}\n${mountTable()}`,
      watched: git ? [root, repository] : [root],
      absent,
      unmade,
      outer: [
        ...always,
        ...(network ? resolver() : ["--unshare-net"]),
        ...["--bind", join(own, "tmp"), "/tmp"],
        ...(home ? ["--bind", join(own, "home"), home] : []),
        ...hide((state) => !isInside("/tmp", state) && !(home && isInside(home, state))),
        ...(root === project ? [] : [...readOnly([project]), ...ofProject.args]),
        ...readOnly([...tools, ...(opts.readable ?? [])]),
        ...(realOr(root) === root ? ["--bind", root, root] : []),
        ...here.flatMap((path) => ["--bind", path, path]),
        ...hide((state) => [root, ...here].some((tree) => isInside(tree, state))),
        ...(elsewhere ? [git ? "--bind" : "--ro-bind", elsewhere.common, elsewhere.common] : []),
        ...ofRoot.args,
        ...guarded,
        ...["--setenv", "TMPDIR", "/tmp", "--unsetenv", "XDG_RUNTIME_DIR"],
      ],
      wrap: [...each, "--chdir", root, "--"],
    };
  };
  /** What is there changes only when `watched` does, or the mounts of the machine: a new one would be seen by the commands as it is. */
  const known = new Map<string, { seen: string; enclosure: Enclosure; watched: string[] }>();
  const look = (watched: string[]) =>
    [
      ...watched.map(changedAt),
      ...(opts.readable ?? []).map(exists),
      ...(home ? [identity(join(home, ".gitconfig"))] : []),
      mountTable(),
    ].join();
  return (spec, unsure = new Set()) => {
    const root = spec.root === undefined || spec.root === opts.root ? project : realOr(spec.root);
    const wanted: Wanted = {
      context: spec.context,
      root,
      network: opts.network || spec.grants?.network === true,
      git: /\bgit\b/.test(spec.command),
      granted: spec.grants?.paths ?? [],
    };
    const kind = JSON.stringify(wanted);
    const last = known.get(kind);
    // Looked at first: what changes meanwhile is seen the next time.
    const watching = last?.watched ?? enclose(kind, wanted, unsure).watched;
    const seen = `${look(watching)}\n${[...unsure].sort().join()}`;
    if (last?.seen === seen) return last.enclosure;
    const { watched, ...enclosure } = enclose(kind, wanted, unsure);
    known.set(kind, { seen, enclosure, watched });
    return enclosure;
  };
}

interface Wanted {
  context: string;
  root: string;
  network: boolean;
  git: boolean;
  granted: string[];
}

/** A tree that is gone: whoever starts a command there is told so. */
function realOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Numbers are given again: the time of its birth tells a file from another one in its place; where none is kept, that of its last change. */
function identity(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}:${stat.birthtimeMs || stat.ctimeMs}` : "";
}

function changedAt(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino}:${stat.ctimeNs}` : ""; // a command can set the other time
}

function mountTable(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "latin1");
  } catch {
    return "";
  }
}

/** An empty directory hides nothing: one mount less. */
const hidden = (...paths: string[]): string[] =>
  paths.filter((path) => isDirectory(path) && !isEmpty(path)).flatMap((path) => ["--tmpfs", path]);

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** What a link leads to; one that leads nowhere is nothing to mount. */
const readOnly = (paths: string[]): string[] =>
  paths.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]);

/** From the tree down to these directories, below which something is masked: as mount points they cannot be moved, and the masks with them. */
function pinned(tree: string, paths: string[], unsure: ReadonlySet<string>): { unmade: string[]; args: string[] } {
  const dirs = new Set<string>();
  for (const path of paths) for (let dir = path; dir !== tree && isInside(tree, dir); dir = dirname(dir)) dirs.add(dir);
  const all = [...dirs].sort();
  const args = all.filter((dir) => isPlain(dir) && !unsure.has(dir)).flatMap((dir) => ["--bind", dir, dir]);
  return { unmade: all.filter((dir) => !isPlain(dir) || unsure.has(dir)), args };
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** A directory, with no link on the way to it that a command could have made. */
const isPlain = (path: string): boolean =>
  (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false) && realOr(path) === path;

/** What is there becomes empty; a mount leaves nothing behind. */
function mask(path: string): string[] {
  if (!existsSync(path)) return [];
  return isDirectory(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

/** With the network on, names are resolved by what /etc/resolv.conf points at. */
function resolver(): string[] {
  try {
    const real = realpathSync.native("/etc/resolv.conf");
    return real.startsWith("/run/") ? ["--ro-bind", dirname(real), dirname(real)] : [];
  } catch {
    return [];
  }
}

/** A worktree keeps its state in the repository it belongs to. */
function gitElsewhere(root: string): { common: string; own: string } | undefined {
  try {
    if (isDirectory(join(root, ".git"))) return undefined;
    const dir = /^gitdir: (.+)$/m.exec(readFileSync(join(root, ".git"), "utf8"))?.[1]?.trim();
    const own = dir && realpathSync.native(join(dir.startsWith("/") ? "/" : root, dir));
    if (!own) return undefined;
    const common = /^(.+)\/worktrees\/[^/]+$/.exec(own)?.[1];
    // The pointer is the repository's word: only what points back is believed.
    if (common === undefined || readFileSync(join(own, "gitdir"), "utf8").trim() !== join(root, ".git"))
      return undefined;
    return { common, own };
  } catch {
    return undefined;
  }
}

/** A repository in the tree that has another name: where the file `.git` leads. */
function gitInside(root: string): string | undefined {
  try {
    if (!isFile(join(root, ".git"))) return undefined;
    const dir = /^gitdir: (.+)$/m.exec(readFileSync(join(root, ".git"), "utf8"))?.[1]?.trim();
    const real = dir && realpathSync.native(resolve(root, dir));
    return real && real !== root && isInside(root, real) ? real : undefined;
  } catch {
    return undefined;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
