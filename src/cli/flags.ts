// The flags that several commands share: where, how it may act, with which model, as what it answers.

import { PERMISSION_MODES, type PermissionMode } from "../claude-code/permission-modes.ts";
import { isToolName } from "../claude-code/tool-names.ts";
import { isNoModel, modelSpec } from "../models/model-spec.ts";
import {
  choice,
  count,
  dollars,
  type Flag,
  maybeText,
  nonEmptyText,
  text,
  texts,
  toggle,
  type Values,
} from "./flag.ts";

const cwd: Flag<string> = {
  argument: "DIR",
  help: "work there",
  spellings: [],
  read: (given) => given.at(-1) ?? process.cwd(),
};

/** Of every command. */
export const EVERY = {
  debug: toggle("show where an error comes from"),
  help: toggle("what this takes", { short: "h" }),
};

/** Which project, and where its state lies. */
export const PLACE = {
  cwd,
  state: nonEmptyText("DIR|sqlite:FILE|redis://…", "instead of $XDG_STATE_HOME/holdfast (or $HOLDFAST_STATE)"),
  ...EVERY,
};
export type PlaceFlags = Pick<Values<typeof PLACE>, "cwd" | "state"> & { door?: "terminal" };

export const JSON_TOO = { json: toggle("JSON instead of text") };
export type JsonToo = Values<typeof JSON_TOO>;

/** What settings are read with. */
export const POLICY = {
  permissionMode: modeChoice("MODE", PERMISSION_MODES, "what is allowed unasked", {
    spellings: [
      { name: "permission-mode" },
      { name: "mode", hidden: true },
      { name: "dangerously-skip-permissions", means: "bypass" },
    ],
    values: PERMISSION_MODES.filter((mode) => mode !== "bypass"),
  }),
  allow: texts("RULES", 'allow besides: "Bash(npm test *), Edit"', {
    split: splitRules,
    alsoTakes: areRules,
    spellings: ["allowedTools", { name: "allowed-tools", hidden: true }, { name: "allow", hidden: true }],
  }),
  deny: texts("RULES", "refuse, whatever allows it", {
    split: splitRules,
    alsoTakes: areRules,
    spellings: ["disallowedTools", { name: "disallowed-tools", hidden: true }, { name: "deny", hidden: true }],
  }),
  addDirs: texts("DIR", "one more directory to read and write", { spellings: ["add-dir"] }),
  settings: text("FILE|JSON", "settings for this run, over those of files"),
  trust: toggle("use the settings, hooks, rules, instructions and skills of this repository from now on"),
};
/** `ask`: remembered of the settings that a context was started with; no flag gives it. */
export type PolicyFlags = Partial<Values<typeof POLICY>> & { ask?: string[] } & PlaceFlags;

/** What agents are run with. */
export const WORK = {
  model: modelText(
    "P/NAME",
    "anthropic/… openai/… ollama/… openai-compatible/… openai-responses/… rehearsal rehearsal:FILE; sonnet, opus, haiku, gpt-5",
    { values: ["sonnet", "opus", "haiku", "rehearsal"] },
  ),
  fallbackModels: texts("P/NAME[,…]", "used when the first stays overloaded", {
    split: (given) => given.split(",").filter(Boolean).map(modelSpec),
    spellings: ["fallback-model"],
  }),
  ...POLICY,
  approvals: choice("WAY", ["terminal", "wait", "deny"], "who answers when something needs approval"),
  maxRounds: count("N", "stop after N model calls (exit code 3)", {
    spellings: ["max-rounds", { name: "max-turns", hidden: true }],
  }),
  maxBudgetUsd: dollars("X", "stop when all agents of the context together have cost so much (exit code 3)"),
  contextWindow: count("TOKENS", "how much the model can read at once, where that is not known or should be less"),
  appendSystemPrompt: text("TEXT", "added to the system prompt"),
  systemPrompt: text("TEXT", "in place of who the agent is told to be"),
  quiet: toggle("only the answer", { short: "q" }),
  ...PLACE,
};
export type WorkFlags = Values<typeof WORK> & Pick<PolicyFlags, "ask">;

/** One turn, or one for each line of input. */
export const RUN = {
  outputFormat: choiceOf("output-format", ["text", "json", "stream-json"], "how it answers", [
    { name: "json", means: "json", hidden: true },
  ]),
  inputFormat: choiceOf("input-format", ["text", "stream-json"], "what stands on standard input"),
  agent: text("AGENT", "work as that type of agent (see agents ls)"),
  stay: toggle("may build a team; go on while teammates work, jobs run or something is scheduled"),
  ...WORK,
};

/** Claude Code's newest word for `default`. */
function modeChoice(...given: Parameters<typeof choice<PermissionMode>>): Flag<PermissionMode | undefined> {
  const one = choice(...given);
  const meant = (mode: string | undefined) => (mode === "manual" ? "default" : mode);
  return { ...one, read: (values, typed) => one.read(values.map(meant), typed) };
}

/** A bare name means one model, or is refused with what to type. */
function modelText(...given: Parameters<typeof text>): Flag<string | undefined> {
  const one = text(...given);
  return {
    ...one,
    read(values, typed) {
      const value = one.read(values, typed);
      return value === undefined || isNoModel(value) ? undefined : modelSpec(value);
    },
  };
}

function choiceOf<V extends string>(
  name: string,
  values: readonly [V, ...V[]],
  help: string,
  more: { name: string; means: V; hidden: true }[] = [],
): Flag<V> {
  const one = choice("FORMAT", values, `${help}: ${values.join(", ")}`, { spellings: [name, ...more] });
  return { ...one, read: (given, typed) => one.read(given, typed) ?? values[0] };
}

export const RESUME = {
  continue: toggle("the newest context here", { short: "c" }),
  resume: maybeText("CONTEXT", "that context: its id, four characters of it or more, or its title", { short: "r" }),
};

/** Which context is meant, where a command is about one of several. */
export const OF_CONTEXT = { resume: text("CONTEXT", "of that context", { short: "r" }) };

const CALL = /^[A-Za-z_][\w*.:-]*\([\s\S]*\)$/;

/** `--disallowedTools "Bash(ls *)" "Edit"`: what names nothing but tools is no prompt. */
function areRules(given: string): boolean {
  const rules = splitRules(given);
  return rules.length > 0 && rules.every((rule) => CALL.test(rule) || /^mcp__\S+$/.test(rule) || isToolName(rule));
}

/** `"Bash(git log *), Read"` is two rules; what is inside parentheses belongs to the rule, also when they are not closed. */
function splitRules(given: string): string[] {
  const rules = [""];
  let depth = 0;
  for (const char of given) {
    if (char === "(") depth++;
    if (char === ")" && depth > 0) depth--;
    if (depth === 0 && /[\s,]/.test(char)) rules.push("");
    else rules[rules.length - 1] += char;
  }
  return rules.filter((rule) => rule !== "");
}
