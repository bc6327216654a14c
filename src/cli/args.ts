// Owns the flags: what the command line means, and one clear line when it means nothing.
import { parseArgs } from "node:util";
import { HoldfastError } from "../ledger/error.ts";
import { PERMISSION_MODES, type PermissionMode } from "../mechanisms/permissions/words.ts";

const OPTIONS = {
  print: { type: "boolean", short: "p" },
  model: { type: "string" },
  "fallback-model": { type: "string" },
  "permission-mode": { type: "string" },
  "dangerously-skip-permissions": { type: "boolean" },
  "max-rounds": { type: "string" },
  "max-turns": { type: "string" },
  "max-budget-usd": { type: "string" },
  "output-format": { type: "string" },
  "input-format": { type: "string" },
  "append-system-prompt": { type: "string" },
  agent: { type: "string" },
  approvals: { type: "string" },
  allowedTools: { type: "string", multiple: true },
  "allowed-tools": { type: "string", multiple: true },
  disallowedTools: { type: "string", multiple: true },
  "disallowed-tools": { type: "string", multiple: true },
  "add-dir": { type: "string", multiple: true },
  trust: { type: "boolean" },
  "json-lines": { type: "boolean" },
  reason: { type: "string" },
  remember: { type: "boolean" },
  stay: { type: "boolean" },
  concurrency: { type: "string" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "string", short: "r" },
  state: { type: "string" },
  cwd: { type: "string" },
  json: { type: "boolean" },
  all: { type: "boolean" },
  repair: { type: "boolean" },
  only: { type: "string" },
  input: { type: "string", multiple: true },
  repeat: { type: "string" },
  force: { type: "boolean" },
  "keep-changed": { type: "boolean" },
  "dry-run": { type: "boolean" },
  stat: { type: "boolean" },
  commit: { type: "boolean" },
  "discard-ignored": { type: "boolean" },
  verbose: { type: "boolean" },
  quiet: { type: "boolean", short: "q" },
  debug: { type: "boolean" },
  version: { type: "boolean", short: "v" },
  help: { type: "boolean", short: "h" },
} as const;

export interface Flags {
  print: boolean;
  model?: string;
  fallbackModels: string[];
  /** Undefined: what the settings say. */
  permissionMode?: PermissionMode;
  /** Who answers when a call needs approval. Undefined: the terminal when there is one, else nobody. */
  approvals?: "deny" | "wait" | "terminal";
  /** Rules in Claude's grammar. */
  allow: string[];
  deny: string[];
  addDirs: string[];
  trust: boolean;
  jsonLines: boolean;
  reason?: string;
  remember: boolean;
  /** Go on while teammates work, jobs run or something is scheduled. */
  stay: boolean;
  /** Agents that a worker runs at once. */
  concurrency?: number;
  maxRounds?: number;
  /** What all agents of the context may cost together. */
  maxBudgetUsd?: number;
  outputFormat: "text" | "json" | "stream-json";
  inputFormat: "text" | "stream-json";
  appendSystemPrompt?: string;
  /** The type of the lead of a new context. */
  agent?: string;
  continue: boolean;
  /** "" when -r came without an id: the newest that can be resumed. */
  resume?: string;
  state?: string;
  cwd: string;
  json: boolean;
  all: boolean;
  repair: boolean;
  /** Parts of a restore. */
  only?: string;
  /** Inputs of a workflow, KEY=VALUE. */
  input: string[];
  repeat?: string;
  force: boolean;
  /** A restore leaves alone what somebody else changed since. */
  keepChanged: boolean;
  dryRun: boolean;
  /** A diff gives names only. */
  stat: boolean;
  /** What is uncommitted in a worktree is committed on its branch before it is merged. */
  commit: boolean;
  /** Single ignored files may go with a worktree. */
  discardIgnored: boolean;
  quiet: boolean;
  debug: boolean;
  version: boolean;
  help: boolean;
  words: string[];
}

const usage = (message: string) => new HoldfastError("invalid", `${message} (see \`holdfast --help\`)`);

export function parseFlags(argv: string[]): Flags {
  let parsed: ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true; strict: true }>>;
  try {
    parsed = parseArgs({ args: resumeWithoutId(argv), options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    throw usage((error as Error).message.split("\n")[0]!.replace(/\. To specify.*$/, ""));
  }
  const { values: v, positionals } = parsed;
  return {
    print: v.print ?? false,
    model: v.model,
    fallbackModels: v["fallback-model"]?.split(",").filter(Boolean) ?? [],
    permissionMode: v["dangerously-skip-permissions"]
      ? "bypass"
      : oneOf("--permission-mode", v["permission-mode"], PERMISSION_MODES),
    approvals: oneOf("--approvals", v.approvals, ["deny", "wait", "terminal"]),
    allow: [...(v.allowedTools ?? []), ...(v["allowed-tools"] ?? [])].flatMap(splitRules),
    deny: [...(v.disallowedTools ?? []), ...(v["disallowed-tools"] ?? [])].flatMap(splitRules),
    addDirs: v["add-dir"] ?? [],
    trust: v.trust ?? false,
    jsonLines: v["json-lines"] ?? false,
    reason: v.reason,
    remember: v.remember ?? false,
    stay: v.stay ?? false,
    concurrency: count("--concurrency", v.concurrency),
    maxRounds: count("--max-rounds", v["max-rounds"] ?? v["max-turns"]),
    maxBudgetUsd: dollars("--max-budget-usd", v["max-budget-usd"]),
    outputFormat: oneOf("--output-format", v["output-format"], ["text", "json", "stream-json"]) ?? "text",
    inputFormat: oneOf("--input-format", v["input-format"], ["text", "stream-json"]) ?? "text",
    appendSystemPrompt: v["append-system-prompt"],
    agent: v.agent,
    continue: v.continue ?? false,
    resume: v.resume,
    state: v.state,
    cwd: v.cwd ?? process.cwd(),
    json: v.json ?? false,
    all: v.all ?? false,
    repair: v.repair ?? false,
    only: v.only,
    input: v.input ?? [],
    repeat: v.repeat,
    force: v.force ?? false,
    keepChanged: v["keep-changed"] ?? false,
    dryRun: v["dry-run"] ?? false,
    stat: v.stat ?? false,
    commit: v.commit ?? false,
    discardIgnored: v["discard-ignored"] ?? false,
    quiet: v.quiet ?? false,
    debug: v.debug ?? false,
    version: v.version ?? false,
    help: v.help ?? false,
    words: positionals,
  };
}

/** `-r` may stand alone: an id follows only if the next word looks like one. */
function resumeWithoutId(argv: string[]): string[] {
  return argv.flatMap((arg, i) => {
    if (arg !== "-r" && arg !== "--resume") return [arg];
    return argv[i + 1]?.startsWith("ctx_") ? [arg] : ["--resume="];
  });
}

function count(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(value)) throw usage(`${flag} takes a whole number from 1 on, not "${value}"`);
  return Number(value);
}

function dollars(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const usd = /^\d*\.?\d+$/.test(value) ? Number(value) : 0;
  if (usd > 0) return usd;
  throw usage(`${flag} takes US dollars above 0, such as 2.50, not "${value}"`);
}

function oneOf<T extends string>(flag: string, value: string | undefined, known: readonly T[]): T | undefined {
  if (value === undefined || known.includes(value as T)) return value as T | undefined;
  throw usage(`${flag} takes ${known.join(", ")}, not "${value}"`);
}

/** `"Bash(git log *), Read"` is two rules; what is inside parentheses belongs to the rule, also when they are not closed. */
function splitRules(text: string): string[] {
  const rules = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth++;
    if (char === ")" && depth > 0) depth--;
    if (depth === 0 && /[\s,]/.test(char)) rules.push("");
    else rules[rules.length - 1] += char;
  }
  return rules.filter((rule) => rule !== "");
}
