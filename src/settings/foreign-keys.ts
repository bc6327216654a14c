// Keys that only Claude Code has: in settings that were written for it, and of its sandbox in any file. They do nothing here, and each is said.
import { isRecord } from "../ledger/guards.ts";
import { nearestName } from "../text/similarity.ts";
import type { JsonPath } from "./json-places.ts";
import { quoted } from "./quoted.ts";

type Warn = (path: JsonPath, says: string) => void;

/** Of its `sandbox`, beside those that are ours too. */
const CLAUDES_SANDBOX = new Set([
  ...["failIfUnavailable", "autoAllowBashIfSandboxed", "allowUnsandboxedCommands", "excludedCommands", "filesystem"],
  ...["credentials", "ignoreViolations", "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation", "ripgrep"],
  ...["allowNestedUserNamespaces", "allowAppleEvents", "bwrapPath", "socatPath"],
]);

const says = (path: JsonPath): string =>
  `${quoted(path.join("."))} has no effect: Holdfast has no such setting${path[0] === "sandbox" ? " of the sandbox" : ""}`;

/** Takes them out of a file of ours; all else that is not known stays, to be refused. */
export function leaveClaudesSandbox(file: unknown, warn: Warn): void {
  const { sandbox } = asObject(file);
  const leave = (key: string) => {
    warn(["sandbox", key], says(["sandbox", key]));
    delete asObject(sandbox)[key];
  };
  for (const key of Object.keys(asObject(sandbox))) if (CLAUDES_SANDBOX.has(key)) leave(key);
  if (Object.keys(asObject(asObject(sandbox).network)).length > 0) leave("network"); // ours is one word
}

/** Other programs write settings for Claude Code: keys that only it has do nothing here, at any depth. One that is nearly ours is a mistake. */
export function leaveUnknown(file: unknown, known: (path: JsonPath) => readonly string[], warn: Warn): void {
  const look = (value: unknown, path: JsonPath) => {
    const ours = known(path);
    if (ours.length === 0) return; // whatever it holds is checked as a whole
    for (const key of Object.keys(asObject(value))) {
      const inside = [...path, key];
      if (ours.includes(key)) {
        if (key !== "hooks") look(asObject(value)[key], inside);
      } else if (!nearestName(key, ours)) {
        warn(inside, says(inside));
        delete asObject(value)[key];
      }
    }
  };
  look(file, []);
}

/** A command of Claude's hooks says more than ours understand. */
export function leaveHookKeys(hook: unknown, path: JsonPath, known: readonly string[], warn: Warn): void {
  for (const key of Object.keys(asObject(hook)))
    if (!known.includes(key)) warn([...path, key], `${quoted(key)} of a hook has no effect: Holdfast does not know it`);
}

export const asObject = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
