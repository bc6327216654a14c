// Where what is written for hooks stands, and when it goes: with its context; transcripts also when no hook wants them any more.
import fs from "node:fs";
import path from "node:path";
import { fileName } from "../../ledger/file-name.ts";
import { LEAD } from "../../loop/agent.ts";
import type { Turn } from "../../loop/seams.ts";

const DAY_MS = 86_400_000;
/** Its time says when everything was last looked through. */
const SWEPT = ".swept";

export const transcriptDir = (stateDir: string): string => path.join(stateDir, "transcripts");
export const longTextDir = (stateDir: string): string => path.join(stateDir, "hooks");

export interface TranscriptPaths {
  /** The lead's: that of the session. */
  transcriptPath: string;
  /** The agent's own, where that is another. */
  agentTranscriptPath?: string;
}

export const transcriptPaths = (stateDir: string, { context, agent }: Pick<Turn, "context" | "agent">) => ({
  transcriptPath: transcriptFile(stateDir, context, LEAD),
  ...(agent !== LEAD && { agentTranscriptPath: transcriptFile(stateDir, context, agent) }),
});

/** As Claude Code lays them out: SESSION.jsonl, and those of its subagents in SESSION/subagents. */
export function transcriptFile(stateDir: string, context: string, agent: string): string {
  const dir = transcriptDir(stateDir);
  if (agent === LEAD) return path.join(dir, `${fileName(context)}.jsonl`);
  return path.join(dir, fileName(context), "subagents", `agent-${fileName(agent)}.jsonl`);
}

/** Where long texts of that context's hooks are kept. */
export const longTextsOf = (dir: string, context: string): string => path.join(dir, fileName(context));

/** Contract: never throws. */
export const forgetTranscript = (stateDir: string, context: string): void =>
  removeTranscript(stateDir, fileName(context));

/** Everything that hooks of these contexts were given as files. Contract: never throws. */
export function forgetHookFiles(stateDir: string, contexts: readonly string[]): void {
  for (const context of contexts) removeAll(stateDir, fileName(context));
}

/** `name`: as it stands on disk. */
function removeAll(stateDir: string, name: string): void {
  removeTranscript(stateDir, name);
  remove(path.join(longTextDir(stateDir), name));
}

function removeTranscript(stateDir: string, name: string): void {
  remove(path.join(transcriptDir(stateDir), `${name}.jsonl`));
  remove(path.join(transcriptDir(stateDir), name));
}

/** Once a day: files of contexts that are not there any more. */
export async function sweepHookFiles(stateDir: string, isThere: (context: string) => Promise<boolean>): Promise<void> {
  const mark = path.join(transcriptDir(stateDir), SWEPT);
  const swept = fs.statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - swept < DAY_MS) return;
  fs.writeFileSync(mark, "", { mode: 0o600 });
  const names = [...namesIn(transcriptDir(stateDir)), ...namesIn(longTextDir(stateDir))];
  const contexts = new Set(names.map((name) => name.replace(/\.(?:jsonl|lock|tmp)$/, "")));
  for (const context of contexts)
    if (!context.startsWith(".") && context !== "" && !(await isThere(context))) removeAll(stateDir, context);
}

function namesIn(dir: string): string[] {
  try {
    return fs.readdirSync(dir);
  } catch {
    return [];
  }
}

function remove(place: string): void {
  try {
    fs.rmSync(place, { recursive: true, force: true });
  } catch {} // somebody else's by now
}
