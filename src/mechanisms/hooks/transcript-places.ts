// Where what is written for hooks stands, and when it goes: with its context; transcripts also when no hook wants them any more.
import fs from "node:fs";
import path from "node:path";
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

/** Any name is one of a file. */
export const fileName = (name: string): string =>
  name.replace(/[^A-Za-z0-9._-]/g, (c) => `%${c.codePointAt(0)?.toString(16)}`);

/** Contract: never throws. */
export function forgetTranscript(stateDir: string, context: string): void {
  remove(path.join(transcriptDir(stateDir), `${context}.jsonl`));
  remove(path.join(transcriptDir(stateDir), context));
}

/** Everything that hooks of these contexts were given as files. Contract: never throws. */
export function forgetHookFiles(stateDir: string, contexts: readonly string[]): void {
  for (const context of contexts) {
    forgetTranscript(stateDir, context);
    remove(path.join(longTextDir(stateDir), context));
  }
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
    if (!context.startsWith(".") && !(await isThere(context))) forgetHookFiles(stateDir, [context]);
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
