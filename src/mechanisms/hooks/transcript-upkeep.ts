// Owns when transcripts go: with their context, or when no hook wants them any more.
import fs from "node:fs";
import path from "node:path";
import { transcriptDir } from "./transcripts.ts";

/** Contract: what was written for hooks of these contexts is gone, as far as it can be; never throws. */
export function forgetTranscripts(stateDir: string, contexts: readonly string[]): void {
  const dir = transcriptDir(stateDir);
  for (const context of contexts) {
    for (const name of [`${context}.jsonl`, context]) {
      try {
        fs.rmSync(path.join(dir, name), { recursive: true, force: true });
      } catch {} // somebody else's by now
    }
  }
}
