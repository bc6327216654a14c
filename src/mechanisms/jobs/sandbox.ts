// Owns what a command sees of the machine: the arguments of bubblewrap, and whether it works here.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JobSpec } from "../../tools/job-runner.ts";
import { isInside } from "../../tools/paths.ts";

export interface SandboxOptions {
  /** The project: writable but for what is protected; only readable for a command that has a tree of its own. */
  root: string;
  home: string;
  /** Holds what is private to each context: its /tmp, and its home. */
  dir: string;
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
  /** Which files are mounted: others in their place are another enclosure. */
  stamp: string;
}

/** Where the supervisor sees the directories of jobs; its commands see nothing there. */
export const JOBS_SEEN = "/run/holdfast";

/** In the project's root, whatever is there: read-only; what is not there must not come to be. */
const PROTECTED = [
  ".git",
  ".gitmodules",
  ".claude",
  ".holdfast",
  ".mcp.json",
  ".vscode",
  ".idea",
  ".cursor",
  ".husky",
  ".envrc",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
];
/** In `.git`, when the command is one that works with git: what would run code later. */
const GIT_PROTECTED = ["config", "config.worktree", "hooks", "info", "modules", "commondir"];
/** Of the home, besides the project: where tools are installed. No secrets, no caches. */
const TOOLS = [
  ".nvm",
  ".fnm",
  ".volta",
  ".asdf",
  ".pyenv",
  ".rbenv",
  ".sdkman",
  ".deno",
  ".bun",
  ".rustup",
  ".cargo/bin",
  ".cargo/registry",
  ".local/bin",
  ".local/lib",
  ".local/share/pnpm",
  ".local/share/uv",
  ".local/share/mise",
  ".local/share/fnm",
  ".local/share/virtualenvs",
  ".local/pipx",
  "go/bin",
  "go/pkg",
  ".m2/repository",
  ".gradle/wrapper",
  ".gitconfig",
  ".config/git",
  "miniconda3",
  "anaconda3",
  ".linuxbrew",
];
/** Of the home, when the project is the home or holds it. */
const SECRETS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".netrc",
  ".git-credentials",
  ".pypirc",
  ".npmrc",
  ".config",
  ".local/share/keyrings",
  ".local/state",
  ".password-store",
  ".mozilla",
  ".claude",
  ".codex",
  ".gemini",
  ".bash_history",
  ".zsh_history",
  ".node_repl_history",
  ".python_history",
];
/** Readable by root only: matters when we run as root. */
const SYSTEM_SECRETS = [
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/shadow-",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
];

export function createSandbox(bwrap: string, opts: SandboxOptions): (spec: JobSpec) => Enclosure {
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
    ...["--dev-bind", "/", "/", "--proc", "/proc", "--tmpfs", JOBS_SEEN],
  ];
  /** Of the home, in a tree that holds it. */
  const secretsIn = (tree: string) =>
    home && isInside(tree, home)
      ? [
          ...pinned(
            home,
            SECRETS.map((name) => dirname(name)),
          ),
          ...SECRETS.flatMap((name) => mask(join(home, name))),
        ]
      : [];
  const tools = home ? TOOLS.map((name) => join(home, name)) : [];
  const enclose = (
    kind: string,
    { context, root, network, git, granted }: Wanted,
  ): Enclosure & { watched: string[] } => {
    const own = join(opts.dir, context);
    for (const name of ["tmp", "home"]) mkdirSync(join(own, name), { recursive: true, mode: 0o700 });
    const absent: string[] = [];
    const guarded: string[] = [];
    const mounted = [identity(root), ...(home ? [identity(join(home, ".gitconfig"))] : [])];
    const guard = (path: string) => {
      if (granted.includes(path)) return;
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (!stat) absent.push(path);
      else if (!stat.isSymbolicLink()) guarded.push("--ro-bind", path, path); // a mount cannot hold a link; trust holds its content
      mounted.push(identity(path));
    };
    for (const name of PROTECTED) if (name !== ".git" || !git) guard(join(root, name));
    const elsewhere = gitElsewhere(root);
    const repository = elsewhere?.common ?? join(root, ".git");
    // What a command made a link is nobody's to mount: it would be followed. A mount point cannot be moved away, nor another put in its place.
    if (git && isPlain(repository)) {
      if (!elsewhere) guarded.push("--bind", repository, repository);
      for (const name of GIT_PROTECTED) guard(join(repository, name));
      // Other worktrees are not this command's: what the repository keeps of them decides whether they live.
      if (isPlain(join(repository, "worktrees"))) guarded.push(...readOnly([join(repository, "worktrees")]));
    }
    if (git && elsewhere) {
      guard(join(root, ".git"));
      guarded.push("--bind", elsewhere.own, elsewhere.own);
      for (const name of ["commondir", "gitdir"]) guard(join(elsewhere.own, name));
    }
    return {
      kind,
      stamp: `${mounted.join()}\n${mountTable()}`,
      watched: git ? [root, repository] : [root],
      absent,
      outer: [
        ...always,
        ...(network ? resolver() : ["--unshare-net"]),
        ...["--bind", join(own, "tmp"), "/tmp"],
        ...(home ? ["--bind", join(own, "home"), home] : []),
        ...(root === project ? [] : [...readOnly([project]), ...secretsIn(project)]),
        ...readOnly([...tools, ...(opts.readable ?? [])]),
        ...[root, ...(opts.writable ?? [])].flatMap((path) => ["--bind", path, path]),
        ...(elsewhere ? [git ? "--bind" : "--ro-bind", elsewhere.common, elsewhere.common] : []),
        ...secretsIn(root),
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
  return (spec) => {
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
    if (last && last.seen === look(last.watched)) return last.enclosure;
    const { watched, ...enclosure } = enclose(kind, wanted);
    known.set(kind, { seen: look(watched), enclosure, watched });
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

/** Directories below which something is masked: as mount points they cannot be moved, and the mask with them. */
function pinned(home: string, names: string[]): string[] {
  const dirs = new Set(names.flatMap((name) => name.split("/").map((_, i, all) => all.slice(0, i + 1).join("/"))));
  return [...dirs]
    .filter((name) => name !== "." && isPlain(join(home, name)))
    .sort()
    .flatMap((name) => ["--bind", join(home, name), join(home, name)]);
}

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

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
