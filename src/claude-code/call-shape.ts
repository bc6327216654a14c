// A call as existing scripts know it: names and arguments of the table, paths of files absolute.

import { isKept } from "../file-access/kept-results.ts";
import { resolvePath } from "../file-access/paths.ts";
import { LEAD } from "../loop/agent.ts";
import { toClaude } from "./tool-names.ts";

/** Calls are numbered by each agent: outside the lead's the agent makes them unique. */
export const callIdOf = (agent: string, callId: string): string => (agent === LEAD ? callId : `${agent}.${callId}`);

/** Contract: throws `refused` for the name of a file that misleads. */
export function claudeCall(name: string, input: unknown, cwd: string): { name: string; input: unknown } {
  const theirs = toClaude(name, input);
  const given: { file_path?: unknown } = theirs.input ?? {};
  const { file_path: file } = given;
  if (typeof file !== "string" || isKept(file)) return theirs;
  return { name: theirs.name, input: { ...given, file_path: resolvePath(cwd, file) } };
}
