// Checking one settings file: every mistake becomes one line with its place and what to do. Loads the schema, so it is loaded lazily.

import type * as z from "zod";
import { HOOK_EVENTS, HOOK_SHELLS, type HookEvent, type HookGroup, ruleOf } from "../claude-code/hook-events.ts";
import { PERMISSION_MODES } from "../claude-code/permission-modes.ts";
import { SELDOM } from "../ledger/events.ts";
import { nearestName } from "../text/similarity.ts";
import { asObject, leaveClaudesSandbox, leaveHookKeys, leaveUnknown } from "./foreign-keys.ts";
import type { JsonPath, JsonText, TextPlace } from "./json-places.ts";
import { readJsonText } from "./json-text.ts";
import { quoted } from "./quoted.ts";
import { claudeSchema, settingsSchema } from "./schema.ts";
import type { SettingsFile } from "./types.ts";

/** Says in one sentence, which names the rule, what is wrong with it and what to do; or nothing. */
export type CheckRule = (text: string) => string | undefined;

export interface CheckedFile {
  /** Empty when there are problems. */
  value: SettingsFile;
  problems: string[];
  warnings: string[];
  /** `FILE:LINE:COLUMN` of a key, for messages. */
  at(path: JsonPath): string;
}

const RULE_LISTS = ["allow", "ask", "deny"] as const;

/** `shown` is how people know the file. Claude's own files are read for permissions and hooks; the rest of them is not ours. */
export function checkSettings(
  text: string,
  shown: string,
  claude: boolean,
  checkRule: CheckRule,
  { foreign = "refuse" }: { foreign?: "refuse" | "leave" } = {},
): CheckedFile {
  const json = readJsonText(text);
  const problems: { place: TextPlace; says: string }[] = json.problems.filter((p) => !claude || isOurs(p.path));
  const warnings: { place: TextPlace; says: string }[] = [];
  const inOrder = (all: { place: TextPlace; says: string }[]) =>
    all
      .sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column)
      .map(({ place, says }) => `${shown}:${place.line}:${place.column}: ${says}`);
  const at = (path: JsonPath) => {
    const { line: row, column } = json.keyPlace(path);
    return `${shown}:${row}:${column}`;
  };
  const warn = (path: JsonPath, says: string) => warnings.push({ place: json.valuePlace(path), says });
  const finish = (value: SettingsFile): CheckedFile => ({
    value: problems.length > 0 ? {} : value,
    problems: inOrder(problems),
    warnings: inOrder(warnings),
    at,
  });
  if (json.value === undefined) return finish({});

  if (claude) leaveOthers(json.value, warn);
  else leaveClaudesSandbox(json.value, warn);
  const schema = claude ? claudeSchema() : settingsSchema();
  if (foreign === "leave") leaveUnknown(json.value, (path) => keysAt(schema, path), warn);
  const parsed = schema.safeParse(json.value, SELDOM);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(...described(issue, json, schema));
    return finish({});
  }
  const value = parsed.data as SettingsFile;
  leaveSilent(value, warn);
  for (const list of RULE_LISTS) {
    const { permissions } = value;
    const kept = permissions?.[list]?.filter((rule, i) => {
      const says = checkRule(rule);
      if (says === undefined) return true;
      const path = ["permissions", list, i];
      // A rule for another program that we cannot read: leaving out an allow only tightens, leaving out the others would loosen.
      if (claude && list === "allow") warn(path, `${says} (left out)`);
      else problems.push({ place: json.valuePlace(path), says });
      return false;
    });
    if (permissions && kept) permissions[list] = kept;
  }
  if (!claude) problems.push(...conditionProblems(value, json, checkRule));
  return finish(value);
}

/** The `if` of a hook is a rule too. */
function conditionProblems(value: SettingsFile, json: JsonText, checkRule: CheckRule) {
  const problems: { place: TextPlace; says: string }[] = [];
  for (const [event, groups] of Object.entries(value.hooks ?? {})) {
    for (const [i, group] of groups.entries()) {
      for (const [j, hook] of group.hooks.entries()) {
        const says = hook.if === undefined ? undefined : checkRule(hook.if);
        const place = json.valuePlace(["hooks", event, i, "hooks", j, "if"]);
        if (says !== undefined) problems.push({ place, says });
      }
    }
  }
  return problems;
}

const isOurs = (path: JsonPath): boolean => path.length === 0 || path[0] === "permissions" || path[0] === "hooks";

/** Takes out hooks that would never run, each with a warning: of events that nothing fires yet, for shells that are not ours. */
function leaveSilent(value: SettingsFile, warn: (path: JsonPath, says: string) => void): void {
  const { hooks = {} } = value;
  for (const [event, groups] of Object.entries(hooks) as [HookEvent, HookGroup[]][]) {
    const { never } = ruleOf(event);
    if (never !== undefined) {
      warn(["hooks", event], `hooks for ${quoted(event)} are not run: ${never}`);
      delete hooks[event];
      continue;
    }
    for (const [i, group] of groups.entries()) {
      group.hooks = group.hooks.filter((hook, j) => {
        if (hook === undefined) return false; // said already
        if (hook.args || hook.shell === undefined || HOOK_SHELLS.some((known) => known === hook.shell)) return true;
        const says = `a hook for the shell ${quoted(hook.shell)} is not run: hooks run under ${HOOK_SHELLS.join(" or ")}`;
        warn(["hooks", event, i, "hooks", j, "shell"], says);
        return false;
      });
    }
  }
}

/** Takes out of a Claude file what only Claude Code knows: its events, its other kinds of hooks, its modes. */
function leaveOthers(file: unknown, warn: (path: JsonPath, says: string) => void): void {
  const { hooks, permissions, sandbox, disableAllHooks } = asObject(file);
  if (Object.keys(asObject(sandbox)).length > 0)
    warn(["sandbox"], `${quoted("sandbox")} has no effect in this file: commands run in Holdfast's own sandbox`);
  if (disableAllHooks === true) delete asObject(file).hooks;
  else {
    for (const [event, groups] of Object.entries(asObject(hooks))) {
      if (!HOOK_EVENTS.some((known) => known === event)) {
        warn(["hooks", event], `hooks for ${quoted(event)} are not run: Holdfast has no such event`);
        delete asObject(hooks)[event];
      } else if (Array.isArray(groups)) {
        for (const [i, group] of groups.entries()) leaveOtherKinds(group, ["hooks", event, i], warn);
      }
    }
  }
  const mode = asObject(permissions).defaultMode;
  if (typeof mode === "string" && !PERMISSION_MODES.some((known) => known === mode)) {
    warn(["permissions", "defaultMode"], `the mode ${quoted(mode)} is not used: Holdfast has no such mode`);
    delete asObject(permissions).defaultMode;
  }
  const bypass = asObject(permissions).disableBypassPermissionsMode;
  if (bypass !== undefined && bypass !== "disable") {
    const path = ["permissions", "disableBypassPermissionsMode"];
    warn(path, `${quoted("disableBypassPermissionsMode")} is not used: it can only be "disable"`);
    delete asObject(permissions).disableBypassPermissionsMode;
  }
}

function leaveOtherKinds(group: unknown, path: JsonPath, warn: (path: JsonPath, says: string) => void): void {
  const { hooks } = asObject(group);
  if (!Array.isArray(hooks)) return;
  hooks.forEach((hook, i) => {
    const { type } = asObject(hook);
    const known = keysAt(settingsSchema(), ["hooks", "Stop", 0, "hooks", 0]);
    if (type === "command") leaveHookKeys(hook, [...path, "hooks", i], known, warn);
    if (type === "command" || typeof type !== "string") return;
    warn([...path, "hooks", i], `a hook of type ${quoted(type)} is not run: Holdfast runs commands`);
    hooks[i] = undefined;
  });
}

type Issue = z.core.$ZodIssue;

function described(issue: Issue, json: JsonText, schema: z.ZodType): { place: TextPlace; says: string }[] {
  const name = issue.path.length > 0 ? quoted(dotted(issue.path)) : "the file";
  const given = valueAt(json.value, issue.path);
  const here = json.valuePlace(issue.path);
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, issue.path);
    return issue.keys.map((key) => {
      const near = nearestName(key, known);
      const inside = issue.path.length > 0 ? ` in ${name}` : "";
      const todo = near
        ? `did you mean ${quoted(near)}?`
        : `take it out; known are ${known.filter((k) => k !== "$schema").join(", ")}`;
      return { place: json.keyPlace([...issue.path, key]), says: `unknown key ${quoted(key)}${inside}: ${todo}` };
    });
  }
  if (given === undefined)
    return [{ place: here, says: `${quoted(String(issue.path.at(-1)))} is missing here: add it` }];
  if (issue.code === "invalid_type") {
    const wanted = WORDS[issue.expected] ?? `a ${issue.expected}`;
    return [{ place: here, says: `${name} is ${kindOf(given)}: give ${wanted}` }];
  }
  if (issue.code === "invalid_value") {
    const options = issue.values.map((v) => JSON.stringify(v)).join(", ");
    const shown = typeof given === "string" ? quoted(given) : kindOf(given);
    return [{ place: here, says: `${name} is ${shown}: give ${issue.values.length > 1 ? "one of " : ""}${options}` }];
  }
  if (issue.code === "invalid_key")
    return [{ place: json.keyPlace(issue.path), says: `${name}: ${issue.issues[0]?.message ?? issue.message}` }];
  return [{ place: here, says: `${name}: ${issue.message}` }];
}

const WORDS: Record<string, string> = {
  string: "text in double quotes",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  array: "a list [ … ]",
  object: "an object { … }",
  record: "an object { … }",
};

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "an object"
        : typeof value === "string"
          ? "text"
          : `${value}`;

const dotted = (path: JsonPath): string =>
  path.map((step, i) => (typeof step === "number" ? `[${step}]` : `${i > 0 ? "." : ""}${String(step)}`)).join("");

function valueAt(value: unknown, path: JsonPath): unknown {
  for (const step of path) value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
  return value;
}

/** The keys that the schema knows at a path. */
function keysAt(schema: z.ZodType, path: JsonPath): string[] {
  type Node = { unwrap?(): Node; shape?: Record<string, Node>; element?: Node; valueType?: Node };
  let node = schema as Node | undefined;
  const bare = () => {
    while (node?.unwrap && !node.element) node = node.unwrap();
  };
  for (const step of path) {
    bare();
    node = node?.shape?.[String(step)] ?? node?.element ?? node?.valueType;
  }
  bare();
  return Object.keys(node?.shape ?? {});
}
