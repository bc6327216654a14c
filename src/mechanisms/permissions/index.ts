// The gate: every call is judged by the engine against the user's policy and what is true around it.

import type { PermissionMode } from "../../claude-code/permission-modes.ts";
import { isFileTool, isSearch } from "../../file-access/file-tools.ts";
import { isKept } from "../../file-access/kept-results.ts";
import { isInside, resolvePath } from "../../file-access/paths.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { Carrying } from "../../loop/carry.ts";
import {
  defineMechanism,
  type GateCall,
  type Grants,
  type Looked,
  type Mechanism,
  type Turn,
  type Verdict,
} from "../../loop/seams.ts";
import { contextRoot } from "../../loop/transcript.ts";
import { decideCall } from "../../shell-policy/engine.ts";
import { compileRules, coveredBy } from "../../shell-policy/rules.ts";
import { rulesFor } from "../../shell-policy/rules-for-call.ts";
import { policyIn } from "../../shell-policy/tree-policy.ts";
import type { Judgement, Policy, World } from "../../shell-policy/types.ts";
import { cutText } from "../../text/cut.ts";
import { fittingLines } from "../../text/fitting.ts";
import { splitPattern } from "../../text/glob.ts";
import { visible } from "../../text/visible.ts";
import { disk, type Look, lookingFor } from "./looking.ts";

export interface PermissionOptions {
  policy?: Partial<Policy>;
  home: string;
  additionalDirectories?: string[];
  /** Directories that may be read besides. */
  readable?: string[];
  /** Where the program keeps its own state and settings: no rule opens it for writing. */
  own?: string[];
  /** Whether commands run inside the sandbox. */
  sandboxed?: boolean;
  /** Whether they have the network there in any case. */
  openNetwork?: boolean;
  /** Tools that the embedding program answers for: those in its `tools`, and whichever of its mechanisms' it names here. */
  trustedTools?: string[];
  /** Modes that hold for an agent besides: a call is judged under each, and the strictest answer counts. */
  modesOf?: (turn: Turn) => readonly PermissionMode[];
  /** Allow rules that a person kept for the context, each about the tree that the agent works in. */
  keptRules?: (turn: Turn) => readonly string[];
  /** How the disk is looked at for a call; default: as it is. */
  lookFor?: (call: GateCall) => Look;
}

const NO_RULES: Policy = { mode: "default", allow: [], ask: [], deny: [] };

export function createPermissions(opts: PermissionOptions): Mechanism {
  const policy = { ...NO_RULES, ...opts.policy };
  /** The trees themselves stay where they are: they are resolved once, every other path anew for each call. */
  const trees = new Map<string, string>();
  const within = policyIn(policy);
  return defineMechanism({
    name: "permissions",
    carry: carryRefusals,
    settings: () => settingsOf(policy, opts),
    seams: { gate: { judge: (call) => judge(call, within(call.turn.root, apartFrom(call.turn)), { ...opts, trees }) } },
  });
}

/** Of the window. */
const SHARE = 0.02;
const [INPUT_CHARS, REASON_CHARS] = [120, 300];

/** What was refused, and why: a person may have said what to do instead. The last ones first. */
function carryRefusals(turn: Pick<Turn, "state">, { room }: Pick<Carrying, "room">): string {
  const lines = turn.state.denials.toReversed().map(({ name, callId, input, reason }) => {
    const call = `${callId} ${name} ${visible(cutText(JSON.stringify(input ?? {}), INPUT_CHARS))}`;
    return `- ${call}: ${visible(cutText(reason, REASON_CHARS))}`;
  });
  if (lines.length === 0) return "";
  const rest = (count: number) => `- and ${count} older ones`;
  return ["Calls of yours that were refused, the last one first:", ...fittingLines(lines, room(SHARE), rest)].join(
    "\n",
  );
}

type Trees = { trees: Map<string, string> };

/** All that judging goes by but the ledger and the disk. */
function settingsOf(policy: Policy, opts: PermissionOptions) {
  const { home, additionalDirectories, readable, own, sandboxed, openNetwork, trustedTools } = opts;
  return { policy, home, additionalDirectories, readable, own, sandboxed, openNetwork, trustedTools };
}

async function judge(gated: GateCall, given: Policy, opts: PermissionOptions & Trees): Promise<Verdict> {
  const { tool, input, turn } = gated;
  const policy = withRules(given, opts.keptRules?.(turn) ?? [], turn);
  const look = opts.lookFor?.(gated) ?? disk;
  for (const tree of [turn.root, opts.home, ...(opts.additionalDirectories ?? []), ...(opts.readable ?? [])]) {
    if (!opts.trees.has(tree)) opts.trees.set(tree, look.realPath(tree));
  }
  const judged = new Map(opts.trees);
  const looking = lookingFor(tool.name, look, judged);
  const world = worldOf(turn, opts, { apart: apartFrom(turn), look: looking });
  const modes = new Set([policy.mode, ...(opts.modesOf?.(turn) ?? [])]);
  const call = { tool: tool.name, effect: tool.effect, input };
  const under = async (rules: Policy): Promise<Judgement[]> => {
    const judgements: Judgement[] = [];
    for (const mode of modes) judgements.push(await decideCall({ ...rules, mode }, call, world));
    return judgements;
  };
  const judgements = await under(policy);
  const { decision, code = "command", reason, firm } = strictest(judgements);
  const looked = (): { looked?: Looked } => {
    const seen = looking.seen();
    return seen ? { looked: seen } : {};
  };
  if (decision === "deny") return { decision, code, reason, ...looked() };
  const grants: Grants = {
    ...grantedBy(judgements),
    ...(tool.name === "bash" ? readOutside(judgements) : {}),
    ...pathGrant(tool.name, input, { world, firm, judged }),
    ...(isSearch(tool.name) ? leftOut(policy, world, decision === "ask") : {}),
  };
  if (decision === "allow") return { decision, grants, ...looked() };
  const rules: string[] = [];
  for (const rule of firm ? [] : rulesFor(call))
    if (strictest(await under(withRules(policy, [rule], turn))).decision === "allow") rules.push(rule);
  return { decision, code, reason, firm, grants, ...(rules.length > 0 && { rules }), ...looked() };
}

const withRules = (policy: Policy, rules: readonly string[], { root }: Turn): Policy =>
  rules.length === 0
    ? policy
    : {
        ...policy,
        allow: [...policy.allow, ...rules.map((text) => ({ text, source: "kept in this context", base: root }))],
      };

/** What every mode that holds for the agent grants. */
function grantedBy(judgements: Judgement[]): Grants {
  const network = judgements.every((one) => one.network);
  const git = judgements.every((one) => one.git);
  const withheld = judgements.find((one) => one.withheld.length > 0)?.withheld;
  return { ...(network ? { network } : {}), ...(git ? { git } : {}), ...(withheld ? { withheld } : {}) };
}

function readOutside(judgements: Judgement[]): Grants {
  const [first] = judgements;
  if (!first) return {};
  const outside = first.outside.map(({ path }) => ({
    path,
    isOpen: judgements.every((one) => one.outside.some((other) => other.path === path && other.isOpen)),
  }));
  return outside.length > 0 ? { outside } : {};
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** Of two that say the same the firm one. */
const strictest = (judgements: Judgement[]): Judgement =>
  judgements.reduce((worst, one) => {
    const by = STRICTNESS[one.decision] - STRICTNESS[worst.decision];
    return by > 0 || (by === 0 && one.firm && !worst.firm) ? one : worst;
  });

/** The one path that this call names, as it was judged; granted when it is not an ordinary one of the project. */
function pathGrant(
  tool: string,
  input: unknown,
  { world, firm, judged }: { world: World; firm: boolean; judged: ReadonlyMap<string, string> },
): Grants {
  const { path: given, pattern } = isRecord(input) ? input : {};
  const written = isSearch(tool) ? (given ?? ".") : given;
  if (!isFileTool(tool) || typeof written !== "string" || (tool === "read_file" && isKept(written))) return {};
  const path = tool === "glob" ? splitPattern({ pattern: String(pattern), path: written }).path : written;
  const real = judged.get(resolvePath(world.cwd, path));
  if (real === undefined) return {};
  return { judged: real, ...(isInside(world.root, real) && !firm ? {} : { paths: [real] }) };
}

/** Files below a searched tree that the user's rules name; what a rule asks about, unless a person is asked about this search. */
function leftOut(policy: Policy, world: World, isAsked: boolean): Grants {
  const { deny, ask } = compileRules(policy);
  const exclude = coveredBy(isAsked ? deny : [...deny, ...ask], world);
  return exclude.length === 0 ? {} : { exclude };
}

/** The context's own tree, for an agent that was given another one. */
const apartFrom = (turn: Turn): string | undefined => (turn.state.root === undefined ? undefined : contextRoot(turn));

export function worldOf(
  turn: Pick<Turn, "root" | "cwd">,
  opts: PermissionOptions,
  { apart, look = disk }: { apart?: string | undefined; look?: Look } = {},
): World {
  let own: string[] | undefined;
  return {
    root: look.realPath(turn.root),
    cwd: turn.cwd,
    home: opts.home,
    additionalDirectories: opts.additionalDirectories ?? [],
    readable: [...(opts.readable ?? []), ...(apart === undefined ? [] : [apart])],
    ...(apart === undefined ? {} : { apart: look.realPath(apart) }),
    /** Most commands name no path that would have to be compared with these. */
    get own() {
      own ??= (opts.own ?? []).map((place) => look.realPath(place));
      return own;
    },
    sandboxed: opts.sandboxed ?? false,
    openNetwork: opts.openNetwork ?? false,
    realPath: look.realPath,
    kind: look.kind,
    links: look.links,
    trustedTools: opts.trustedTools ?? [],
  };
}
