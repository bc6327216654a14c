// The words of the permission engine: what it is told, and what it answers. No effects.

import type { PermissionMode } from "../claude-code/permission-modes.ts";

export type PolicyDecision = "allow" | "ask" | "deny";

/** Why a part is not simply allowed: for whoever decides by it. The sentence beside it is for people alone. The loop's codes have all of these. */
export type PolicyCode =
  | "rule" // a rule of the user says so
  | "mode" // the permission mode refuses it
  | "outside" // it leaves the project
  | "temporary" // it writes to /tmp
  | "protected" // git's files, settings, hooks, what runs at start
  | "secret" // keys, credentials, the environment
  | "device" // devices, kernel files, pipes
  | "edit" // it changes files of the project, as acceptEdits allows it
  | "changes" // it takes away or changes much at once
  | "network"
  | "runs_code" // of the project, of a package, from another machine
  | "runtime" // what it does is only known when it runs
  | "unreadable" // it cannot be judged: too long, too deep, not to be parsed
  | "command" // what this command does; the sentence says it
  | "tool"; // a tool that acts outside the project

/** What one part of a call would need and does not get. */
export interface WithheldPart {
  what: "network" | "git";
  /** The command that would need it, as written. */
  part: string;
  /** `beside`: another command of the same call would get it too; `no_rule`: no rule allows it. */
  because: "beside" | "no_rule";
}

/** A place outside the project that a command reads, by its real path. */
export interface OutsidePlace {
  path: string;
  /** A rule or a person allows this very command, and every other part of the call that does more than read the project or write files is such a one. */
  isOpen: boolean;
}

/** One rule as somebody wrote it, in Claude's grammar: `Bash(npm run test *)`, `Read(./secrets/**)`, `mcp__server__tool`. */
export interface RuleText {
  text: string;
  /** Who says so, for people: a file, `--allowedTools`, "answered in this context". */
  source: string;
  /** What a path that begins with `/` is relative to: the directory of the project or home that the settings belong to. */
  base: string;
}

/** What the user wants. */
export interface Policy {
  mode: PermissionMode;
  allow: RuleText[];
  ask: RuleText[];
  deny: RuleText[];
}

/** What is true around the call. The engine asks it, and changes nothing. */
export interface World {
  /** The project's tree. */
  root: string;
  /** The context's own tree, when the agent works in another: for reading, whatever a rule says. */
  apart?: string;
  /** The agent's current directory. */
  cwd: string;
  home: string;
  /** Trees beside the project that the user opened for reading and writing. */
  additionalDirectories: string[];
  /** Directories that may be read besides (what our own tools keep there). */
  readable: string[];
  /** Where Holdfast keeps its state and settings: no rule opens it for writing. */
  own?: string[];
  /** Whether commands run inside the sandbox: mode auto relies on it, and /tmp is then the context's own. */
  sandboxed: boolean;
  /** Commands have the network in any case: nothing is withheld. */
  openNetwork?: boolean;
  /** The real path; of what does not exist, the real path of its deepest existing parent and the rest as written. */
  realPath(path: string): string;
  /** Follows links. */
  kind(path: string): "file" | "directory" | "other" | "missing";
  /** How many names (hard links) a file has; where it is not given, one. */
  links?(path: string): number;
  /** Tools that the embedding program brought: it answers for them. */
  trustedTools: string[];
}

/** A call under our names: `bash`, `read_file`, …, with its parsed input. */
export interface ToolCall {
  tool: string;
  /** `internal` changes nothing outside the ledger; `read` nothing at all. */
  effect: "internal" | "read" | "reconcile" | "job" | "external";
  input: unknown;
}

/** One simple command, redirection, assignment or path of the call. */
export interface JudgedPart {
  /** As written. */
  text: string;
  decision: PolicyDecision;
  /** Why it is not allowed; absent when it is. */
  code?: PolicyCode;
  reason: string;
  /** The rule that decided, as written. */
  rule?: string;
}

export interface Judgement {
  /** The strictest of the parts, as the mode turns it. */
  decision: PolicyDecision;
  /** Why it is not allowed; absent when it is. */
  code?: PolicyCode;
  /** One line for the model and for people: why not allowed, and what to do. */
  reason: string;
  /** An ask that only a person may answer: no mode and no hook turns it into an allow. */
  firm: boolean;
  /** The rule that decided, as written. */
  rule?: string;
  /** Once allowed it has the network: every part that does more than read or write files wants it, and a rule or a person allows that part. */
  network: boolean;
  /** Once allowed it may change the repository: every such part is a command of git's. */
  git: boolean;
  /** What some part would need and does not get. */
  withheld: WithheldPart[];
  /** What its commands read outside the project, and whether the sandbox is to show it to them. */
  outside: OutsidePlace[];
  parts: JudgedPart[];
}
