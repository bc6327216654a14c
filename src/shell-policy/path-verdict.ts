// Where a path leads and what may be done there: inside or outside, protected, secret, a device.
import { basename, dirname, join, resolve } from "node:path";
import { isInside } from "../file-access/paths.ts";
import { fold, type Hit, secretBy } from "../file-access/secret-names.ts";
import { type Evaluation, spend } from "./evaluation.ts";
import { allow, allowChange, ask, askEdit, askFirm, askRead, deny, type PolicyVerdict, strictest } from "./finding.ts";
import { isInstruction, protectedBy } from "./protected.ts";
import { findPathRule, type PathQuestion } from "./rules.ts";

export interface PathUse {
  access: "read" | "edit";
  /** As written, `~` and variables already replaced; globs may be left in it. */
  path: string;
  cwd: string;
  /** Only the name is looked at (listing, testing), not the content. */
  isNameOnly?: boolean;
  /** Of a link it is the link itself that is meant, as `rm` does. */
  isEntry?: boolean;
  /** A command does it, not one of our file tools. */
  isCommand?: boolean;
}

const STREAMS = /^\/dev\/(?:null|stdin|stdout|stderr|tty|fd\/\d+)$/;
const SOURCES = /^\/dev\/(?:zero|urandom|random|full)$/;

export function judgePath(evaluation: Evaluation, use: PathUse): PolicyVerdict {
  if (!spend(evaluation, "paths")) return askFirm("too many paths to judge", "unreadable");
  return judgePlace(evaluation, use);
}

/** For whoever counts by itself how much it looks at. */
export function judgePlace(evaluation: Evaluation, use: PathUse): PolicyVerdict {
  if (use.path === "") return allow();
  if (/[\0-\x08\x0e-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]/.test(use.path)) {
    return deny("the path contains control characters", "unreadable");
  }
  if (use.path.length > 4_096) return askFirm("the path is too long", "unreadable");
  const lexical = resolve(use.cwd, use.path);
  if (STREAMS.test(lexical) || (use.access === "read" && SOURCES.test(lexical))) return allow();
  const isEntry = use.isEntry === true && !/(?:^|\/)\.{0,2}$/.test(use.path);
  const leads = isEntry ? entry : real;
  const judgeWay = (way: string | undefined): PolicyVerdict =>
    way === undefined
      ? askFirm("where the path leads cannot be told", "unreadable")
      : judgeReal(evaluation, use, lexical, way);
  const direct = judgeWay(leads(evaluation, lexical));
  return use.path.includes("..") ? strictest(direct, judgeWay(physical(evaluation, use, leads))) : direct;
}

export const isInProject = (evaluation: Evaluation, path: string): boolean =>
  evaluation.roots.some((root) => isInside(root, path));

function judgeReal(evaluation: Evaluation, use: PathUse, lexical: string, way: string): PolicyVerdict {
  const question: PathQuestion = { access: use.access, lexical, real: way, cwd: use.cwd };
  const { world, rules } = evaluation;
  const denied = findPathRule(rules.deny, question, world, false);
  if (denied) return { ...deny(`the rule ${denied.text} denies it`, "rule"), rule: denied.text };
  const guarded =
    use.access === "edit" ? guardWrite(evaluation, use, lexical, way) : guardRead(evaluation, use, lexical, way);
  if (guarded && !guarded.isLate) return guarded.verdict;
  const asked = findPathRule(rules.ask, question, world, false);
  if (asked) return { ...askFirm(`the rule ${asked.text} asks`, "rule"), rule: asked.text };
  const named = findPathRule(rules.allow, question, world, true);
  // `Edit` without a place means the project: whoever means more says where.
  const isWide = named?.rule.kind === "tool" && named.rule.name !== "Read";
  const allowed = isWide && !isInProject(evaluation, way) ? undefined : named;
  const elsewhere = allowed && use.access === "edit" && !isInProject(evaluation, way) && guardElsewhere(way);
  if (elsewhere) return elsewhere;
  if (allowed) {
    const outside = use.access === "read" && !guarded && !isReadable(evaluation, way) ? { outside: way } : {};
    return { ...(use.access === "edit" ? allowChange() : allow()), rule: allowed.text, ...outside };
  }
  if (guarded) return guarded.verdict;
  return use.access === "edit" ? placeWrite(evaluation, use, way) : placeRead(evaluation, use, way);
}

interface Guard {
  verdict: PolicyVerdict;
  /** A rule of the user may come first. */
  isLate?: boolean;
}

function guardWrite(evaluation: Evaluation, use: PathUse, lexical: string, way: string): Guard | undefined {
  const { apart } = evaluation.world;
  if (apart !== undefined && isInside(apart, way) && !isInProject(evaluation, way))
    return {
      verdict: deny("it is in the main tree, and you work in a worktree: change it there and commit", "outside"),
    };
  if (evaluation.world.own?.some((place) => isInside(place, way)) && !isInProject(evaluation, way))
    return { verdict: deny("it is Holdfast's own state or settings", "protected") };
  const parts = [...new Set([lexical, way])].flatMap((path) => {
    const root = evaluation.roots.filter((r) => isInside(r, path)).sort((a, b) => b.length - a.length)[0];
    return root === undefined ? [] : [path.slice(root.length).split("/").filter(Boolean).map(fold)];
  });
  for (const names of [...parts, ...otherNames(evaluation, way)]) {
    const hit = protectedBy(names);
    if (hit) return { verdict: hit.soft ? ask(hit.reason, "protected") : refusal(hit)(hit.reason, "protected") };
  }
  if (use.isCommand && parts.length > 0 && isInstruction(basename(way))) {
    return { verdict: ask("it changes what agents are told"), isLate: true };
  }
  const secret = secretAt(evaluation, lexical, way);
  if (secret && isInProject(evaluation, way))
    return { verdict: askFirm(`${secret.reason}; a person writes it`, "secret") };
  if (/^\/(?:dev|proc|sys)(?:\/|$)/.test(way))
    return { verdict: deny("devices and kernel files are not written", "device") };
  return undefined;
}

/** Protected names that may be links to an ordinary one: what they lead to is protected as they are. */
const LINKED =
  ".git .claude .holdfast .claude/settings.json .claude/settings.local.json .holdfast/settings.json .holdfast/settings.local.json .mcp.json .vscode .husky".split(
    " ",
  );

/** What the path is called besides: by a protected name that is a link, or as part of a repository that is not called `.git`. */
function otherNames(evaluation: Evaluation, way: string): string[][] {
  const root = evaluation.roots.find((r) => isInside(r, way));
  if (root === undefined) return [];
  const out = LINKED.flatMap((name) => {
    const target = real(evaluation, join(root, name));
    if (target === undefined || target === join(root, name) || target === root || !isInside(target, way)) return [];
    return [[...name.split("/"), ...way.slice(target.length).split("/").filter(Boolean).map(fold)]];
  });
  for (let dir = dirname(way); dir !== root && isInside(root, dir); dir = dirname(dir))
    if (isRepository(evaluation, dir)) out.push([".git"]);
  return out;
}

/** As git tells one: `git init --bare`, what a file `.git` points at, a submodule's. */
export function isRepository({ world }: Evaluation, dir: string): boolean {
  const isThere = (name: string, kind: "file" | "directory") => world.kind(join(dir, name)) === kind;
  return isThere("HEAD", "file") && isThere("objects", "directory") && isThere("refs", "directory");
}

const refusal = (hit: Hit): typeof deny => (hit.decision === "deny" ? deny : askFirm);

/** A rule that allows a place outside does not open what is protected there. */
function guardElsewhere(way: string): PolicyVerdict | undefined {
  const names = way.split("/").filter(Boolean).map(fold);
  const hit = protectedBy(names);
  if (hit) return refusal(hit)(hit.reason, "protected");
  const secret = secretBy(`/${names.join("/")}`);
  return secret && refusal(secret)(secret.reason, "secret");
}

function secretAt(evaluation: Evaluation, lexical: string, way: string): Hit | undefined {
  return secretBy(below(evaluation, way)) ?? (lexical === way ? undefined : secretBy(below(evaluation, lexical)));
}

/** The part that the project's own place does not explain: a project may lie below `~/.config`. */
function below(evaluation: Evaluation, path: string): string {
  const trees = [...evaluation.roots, ...evaluation.readable].filter((tree) => isInside(tree, path));
  const tree = trees.sort((a, b) => b.length - a.length)[0];
  return foldPath(tree === undefined ? path : path.slice(tree.length));
}

function guardRead(evaluation: Evaluation, use: PathUse, lexical: string, way: string): Guard | undefined {
  if (/^\/dev\/(?:tcp|udp)\//.test(lexical)) return { verdict: deny("it opens a network connection", "network") };
  const secret = secretAt(evaluation, lexical, way);
  if (secret && !use.isNameOnly) {
    const isFar = secret.decision === "deny" || !isInProject(evaluation, way);
    return { verdict: (isFar ? deny : askFirm)(secret.reason, "secret") };
  }
  if (secret) return { verdict: askRead(secret.reason, "secret"), isLate: true };
  if (/^\/dev\//.test(way)) return { verdict: deny("devices are not read", "device") };
  return undefined;
}

const foldPath = (path: string): string =>
  path
    .split("/")
    .map((part) => (part === "" ? "" : fold(part)))
    .join("/");

function placeWrite(evaluation: Evaluation, use: PathUse, way: string): PolicyVerdict {
  if (isInProject(evaluation, way)) return evaluation.mayChange ? allowChange() : askEdit();
  if (isOwn(evaluation, use, way)) return allowChange();
  const isTemporary = /^(?:\/private)?\/(?:tmp|var\/tmp)(?:\/|$)/.test(way);
  const isShared = !use.isCommand || !evaluation.world.sandboxed;
  if (isTemporary && isShared && !evaluation.notOwn.some((dir) => isInside(dir, way)))
    return ask("it writes to /tmp, outside the project", "temporary");
  return deny(`it writes outside the project: ${way}`, "outside");
}

/** In the sandbox /tmp is the context's own; the file tools do not see it. */
export const isOwnTemporary = ({ world, notOwn }: Evaluation, way: string): boolean =>
  world.sandboxed && isInside("/tmp", way) && !notOwn.some((dir) => isInside(dir, way));

/** Written as /tmp, or from there: what is done from elsewhere outside is done outside. */
const isOwn = (evaluation: Evaluation, { isCommand, path, cwd }: PathUse, way: string): boolean =>
  isCommand === true &&
  isOwnTemporary(evaluation, way) &&
  isOwnTemporary(evaluation, path.startsWith("/") ? resolve(path) : cwd);

function placeRead(evaluation: Evaluation, use: PathUse, way: string): PolicyVerdict {
  if (isReadable(evaluation, way)) return allow();
  if (isOwn(evaluation, use, way)) return allow();
  // A rule for the command does not mean other places; one for the place does (`Read(//usr/**)`).
  return { ...askRead(`it reads outside the project: ${way}`, "outside"), lift: "exact", outside: way };
}

const isReadable = ({ roots, readable }: Evaluation, way: string): boolean =>
  [...roots, ...readable].some((root) => isInside(root, way));

function real(evaluation: Evaluation, path: string): string | undefined {
  const known = evaluation.reals.get(path);
  if (known !== undefined) return known;
  try {
    const way = evaluation.world.realPath(path);
    evaluation.reals.set(path, way);
    return way;
  } catch {
    return undefined;
  }
}

/** Where the name itself lies, whatever it is a link to. */
function entry(evaluation: Evaluation, path: string): string | undefined {
  const dir = real(evaluation, dirname(path));
  return dir === undefined ? undefined : join(dir, basename(path));
}

/** As the kernel walks it: `link/..` is the parent of where the link leads. */
function physical(evaluation: Evaluation, use: PathUse, leads: typeof real): string | undefined {
  let at: string | undefined = use.path.startsWith("/") ? "/" : use.cwd;
  for (const part of use.path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") {
      at = join(at, part);
      continue;
    }
    at = real(evaluation, at);
    if (at === undefined) return undefined;
    at = dirname(at);
  }
  return leads(evaluation, at);
}
