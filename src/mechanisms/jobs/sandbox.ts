// What a command sees of the machine: the arguments of bubblewrap.
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { once, SYSTEM_SECRETS } from "../../file-access/secret-names.ts";
import { fileName } from "../../ledger/file-name.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import { cachesIn, freshHome } from "./fresh-home.ts";
import { changesOf, type GitConfigView, gitConfigView } from "./git-config-view.ts";
import { type GitUse, gitUse } from "./git-use.ts";
import { createTools, secretPlacesIn, secretsAt } from "./home-view.ts";
import { type Link, linkAt, linksIn, targetOf } from "./linked.ts";
import { machinePrograms } from "./machine-programs.ts";
import {
  changedAt,
  exists,
  fileIdentity,
  guardAt,
  hidden,
  isDirectory,
  isShown,
  layered,
  type MountLayer,
  maskAt,
  maskBeginning,
  mountTable,
  pinned,
  realOr,
  tree,
} from "./mounts.ts";
import { opened, showing } from "./opened.ts";
import { type OwnInstall, ownInstall, ownPlacesIn } from "./own-install.ts";
import type { JobSpec } from "./port.ts";
import { guardRepository } from "./repository.ts";
import { PROTECTED } from "./sandbox-places.ts";
import { createSubmodules, guardSubmodules, notIntoSubmodules } from "./submodules.ts";

export interface SandboxOptions {
  /** The project: writable but for what is protected; only readable for a command that has a tree of its own. */
  root: string;
  home: string;
  /** Holds what is private to each context: its /tmp, and its home. */
  dir: string;
  /** Holds the ledger, the jobs, and what is private to other contexts: not seen, wherever it lies. */
  state?: string;
  /** More that is not seen: the state of other projects. */
  hidden?: string[];
  /** Where settings and data of programs are kept instead of the home. */
  xdg?: { config?: string; data?: string };
  /** Trees besides that commands may read, or write. */
  readable?: string[];
  writable?: string[];
  /** For every command. */
  network?: boolean;
  /** The search path of commands; default: our own. */
  searched?: string;
  /** Where Holdfast itself is; default: found out. Read-only, also in a tree that can be written. */
  own?: OwnInstall;
}

/** Empty: other homes, what runs, other disks. */
const HIDDEN = ["/home", "/root", "/mnt", "/media"];

/**
 * How commands of one kind are shut in. What they see of the machine is put together once, around their supervisor: that is most of
 * what a sandbox costs. Each command then has its own processes, and no rights.
 */
export interface Enclosure {
  /** Which kind. */
  kind: string;
  /** Whether it has the machine's. */
  network: boolean;
  /** Goes before the supervisor: what these commands see, and a network of their own. The directories of jobs come after it. */
  outer: string[];
  /** Goes before the shell; empty: nothing holds it. */
  wrap: string[];
  /** Must not come to exist: taken away when the command has ended. */
  absent: string[];
  /** Must lead where it leads: put back when the command has ended. */
  links: Link[];
  /** Not there to be mounted, and a command may have made it since: while one of these runs, it is not mounted for another either. */
  unmade: string[];
  /** Whether something of the machine is seen there, or the context has something of its own by that name. */
  shows(path: string): boolean;
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
  const own = opts.own ?? ownInstall();
  const alwaysWritten = ["/tmp", ...(home === undefined ? [] : [home, realOr(home)])]; // the context's own
  const searched = opts.searched ?? process.env.PATH ?? "";
  const toolsOf = home === undefined ? () => [] : createTools(home);
  // A /proc that is read-only would keep the commands from having one of their own. Looked up for the first command: many a run has none.
  const always = once(() => [
    ...[bwrap, "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--ro-bind", "/", "/", "--dev-bind", "/proc", "/proc", "--dev", "/dev"],
    ...["--tmpfs", "/run", ...hidden(...HIDDEN)],
    ...SYSTEM_SECRETS.flatMap(maskBeginning),
  ]);
  const each = [
    ...[bwrap, "--unshare-user", "--unshare-pid", "--die-with-parent", "--cap-drop", "ALL"],
    // Settings of the kernel belong to root, and so does a command of root, even without rights.
    ...["--dev-bind", "/", "/", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--tmpfs", JOBS_SEEN],
  ];
  // As they are now: a command may put a link, or another directory, in the place of one of them.
  const writable = (opts.writable ?? []).filter((path) => existsSync(path)).map(realOr);
  const identities = new Map(writable.map((path) => [path, fileIdentity(path)]));
  const isSame = (path: string) => realOr(path) === path && fileIdentity(path) === identities.get(path);
  const states = [opts.state, ...(opts.hidden ?? []), ...secretsAt(opts.home, opts.xdg ?? {})].flatMap((dir) =>
    dir === undefined || dir === "/" ? [] : [realOr(dir)],
  );
  const submodules = createSubmodules();
  const enclose = (kind: string, wanted: Wanted, unsure: ReadonlySet<string>): Known => {
    const { context, root, network, git, granted, outside } = wanted;
    const kept = join(opts.dir, fileName(context));
    for (const name of ["tmp", "home"]) makeDir(join(kept, name));
    const here = writable.filter(isSame);
    const trees = [...new Set([root, ...here])];
    const absent: string[] = [];
    const unmade: string[] = [];
    const mounted = trees.map(fileIdentity);
    const layers: MountLayer[] = [
      ...HIDDEN.map((path): MountLayer => ({ path, how: "private", args: [] })),
      { path: "/run", how: "private", args: [] },
      { path: "/tmp", how: "private", args: ["--bind", join(kept, "tmp"), "/tmp"] },
      ...outside.flatMap((path) => showing(path, home)),
      ...(root === project ? [] : [tree(project, "--ro-bind")]),
      ...(opts.readable ?? []).filter((path) => existsSync(path)).map((path) => tree(path, "--ro-bind")),
      ...trees.filter((path) => realOr(path) === path).map((path) => tree(path)),
    ];
    const add = (made: { unmade: string[]; layers: MountLayer[] }) => {
      unmade.push(...made.unmade);
      layers.push(...made.layers);
    };
    const tools = home === undefined || trees.some((path) => isInside(path, home)) ? [] : toolsOf();
    // What all commands have is nothing that one of them could get from another.
    const hasMore = git !== "none" || outside.length > 0 || (network && opts.network !== true);
    const isTree = home !== undefined && [home, realOr(home)].some((path) => [...trees, ...outside].includes(path));
    const caches = () => (hasMore && !isTree ? cachesIn(join(kept, "home")) : []);
    const fresh = home !== undefined && hasMore && !isTree ? freshHome(home, join(kept, "home"), caches()) : undefined;
    const ofContext: [seen: string, dir: string][] = [["/tmp", join(kept, "tmp")]];
    if (home !== undefined) {
      if (!fresh) ofContext.push([home, join(kept, "home")]);
      const its: MountLayer = { path: home, how: "private", args: ["--bind", join(kept, "home"), home] };
      layers.push(...(fresh?.layers ?? [its]), ...tools);
      for (const path of new Set([project, root]))
        add(secretPlacesIn({ tree: path, isWritable: path === root }, home, unsure));
    }
    const links: Link[] = [];
    const watched = [root];
    const looked: string[] = [];
    const guard = (path: string) => {
      if (granted.includes(path)) return;
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (unsure.has(path) && stat && basename(path) === ".git")
        unmade.push(path); // it may well be somebody's work
      else if (!stat || unsure.has(path)) absent.push(path);
      else if (stat.isSymbolicLink()) {
        links.push(linkAt(path));
        lead(linkAt(path));
      } else layers.push(guardAt(path));
      mounted.push(fileIdentity(path));
      if (!stat || unsure.has(path)) return;
      const within = linksIn(path);
      watched.push(...within.folders);
      for (const link of within.links) lead(link);
    };
    /** What it leads to is protected too, unless that is a whole tree. */
    const lead = (link: Link) => {
      const target = targetOf(link);
      const holding = trees.filter((path) => isInside(path, target));
      if (looked.includes(target) || holding.length === 0 || trees.some((path) => isInside(target, path))) return;
      looked.push(target);
      for (const path of holding) add(pinned(path, [dirname(target)], unsure));
      guard(target);
    };
    for (const name of PROTECTED) if (name !== ".git" || git === "none") guard(join(root, name));
    const watch = (path: string) => void mounted.push(fileIdentity(path));
    const guarding = { unsure, guard, layers, unmade, watch, keep: (path: string) => void links.push(linkAt(path)) };
    const repository = guardRepository(root, git, guarding);
    if (git !== "none") watched.push(repository);
    const isHidden = git !== "none" && network && !opts.network;
    looked.push(...guardSubmodules(root, guarding, { dirs: submodules(root), isHidden }));
    for (const path of trees) {
      if (!own) break;
      const ours = ownPlacesIn(path, own, writable);
      add(pinned(path, [...ours.paths, ...ours.links.map((link) => link.path)].map(dirname), unsure));
      for (const one of ours.paths) guard(one);
      looked.push(...ours.paths);
      links.push(...ours.links);
    }
    for (const place of hiddenIn(trees, states)) {
      for (const path of trees.filter((one) => isInside(one, place))) add(pinned(path, [dirname(place)], unsure));
      layers.push(maskAt(place));
    }
    const config =
      home === undefined
        ? { layers: [], files: [] }
        : gitConfigView([home, opts.xdg?.config], join(kept, "git"), trees);
    const all = [...layers, ...config.layers];
    const outer = [
      ...always(),
      ...(network ? resolver() : ["--unshare-net"]),
      ...layered(all),
      ...["--setenv", "TMPDIR", "/tmp", "--unsetenv", "XDG_RUNTIME_DIR"],
      ...(hasMore
        ? [
            ...machinePrograms(searched, {
              written: [...trees, ...alwaysWritten],
              shown: tools.map(({ path }) => path),
            }),
            ...notIntoSubmodules(),
          ]
        : []),
    ];
    return {
      kind,
      root,
      network,
      stamp: `${mounted.join()}\n${changesOf(config)}\n${mountTable()}`,
      watched,
      looked,
      caches,
      config,
      absent,
      links,
      unmade,
      outer,
      shows: (path) =>
        isShown(all, path) ||
        ofContext.some(([at, dir]) => isInside(at, path) && path !== at && exists(join(dir, relative(at, path)))),
      wrap: [...each, ...(fresh?.each(all) ?? []), "--chdir", root, "--"],
    };
  };
  /** What is there changes only when `watched` does, or the mounts of the machine: a new one would be seen by the commands as it is. */
  const known = new Map<string, { seen: string; enclosure: Known }>();
  const look = ({ root, watched, looked, caches, config }: Known, unsure: ReadonlySet<string>) =>
    [
      ...watched.map(changedAt),
      ...submodules(root),
      ...looked.map(fileIdentity),
      ...caches(),
      ...(opts.readable ?? []).map(exists),
      changesOf(config),
      mountTable(),
      ...[...unsure].sort(),
    ].join();
  return (spec, unsure = new Set()) => {
    const root = spec.root === undefined || spec.root === opts.root ? project : realOr(spec.root);
    const wanted: Wanted = {
      context: spec.context,
      root,
      network: opts.network || spec.grants?.network === true,
      git: gitUse(spec),
      granted: spec.grants?.paths ?? [],
      outside: opened(spec.grants?.outside ?? [], home === undefined ? HIDDEN : [...HIDDEN, home]),
    };
    const kind = JSON.stringify(wanted);
    const last = known.get(kind);
    // Looked at first: what changes meanwhile is seen the next time.
    const seen = look(last?.enclosure ?? enclose(kind, wanted, unsure), unsure);
    if (last?.seen === seen) return last.enclosure;
    const enclosure = enclose(kind, wanted, unsure);
    known.set(kind, { seen, enclosure });
    return enclosure;
  };
}

interface Wanted {
  context: string;
  root: string;
  network: boolean;
  git: GitUse;
  granted: string[];
  /** Shown besides. */
  outside: string[];
}

/** With what its making looked at. */
type Known = Enclosure & {
  root: string;
  watched: string[];
  looked: string[];
  caches: () => string[];
  config: GitConfigView;
};

/** Of a state that is kept in the tree itself, the parts. */
const STATE_PARTS =
  "projects jobs private taken files hooks worktrees transcripts trust.json plugin-trust.json start.key sandbox.json project.json ledger.db ledger.db-wal ledger.db-shm".split(
    " ",
  );

function hiddenIn(trees: readonly string[], states: readonly string[]): string[] {
  const places = states.flatMap((state) =>
    trees.includes(state) ? STATE_PARTS.map((name) => join(state, name)) : [state],
  );
  const outermost = places.filter((path) => !places.some((other) => other !== path && isInside(other, path)));
  return [...new Set(outermost)].filter(exists);
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
