// How the monitor reads ledgers of contexts: with every mechanism of the house, or only with those that tell who waits for a person.
import { mechanismsOf } from "../../harness.ts";
import { createFold, type Slice } from "../../ledger/fold.ts";
import { readers } from "../../loop/host.ts";
import type { Mechanism } from "../../loop/seams.ts";
import { acrossTimelines } from "../../loop/timelines.ts";
import type { PromptCacheState } from "../../mechanisms/prompt-cache/index.ts";
import { pastFold } from "../past/past-fold.ts";
import type { ContextReaders } from "./monitored-project.ts";

/** What tells who waits for a person. */
const WAITING = ["approvals", "team"];

/** Contract: it reads; no mechanism in it is ever run, so that folders do not matter. */
export function contextReaders(): { readers: ContextReaders; promptCache: Slice<PromptCacheState> } {
  const mechanisms = mechanismsOf({ root: "/", jobsDir: "/" });
  const waiting = mechanisms.filter(({ name }) => WAITING.includes(name));
  const slices = waiting.flatMap(({ name, fold }) => (fold ? [[name, acrossTimelines(fold)] as const] : []));
  return {
    readers: {
      ...readers(mechanisms),
      waits: createFold(Object.fromEntries(slices)),
      past: pastFold(mechanisms),
    },
    promptCache: sliceOf(mechanisms, "prompt-cache"),
  };
}

function sliceOf(mechanisms: readonly Mechanism[], name: string): Slice<PromptCacheState> {
  const found = mechanisms.find((one) => one.name === name)?.fold;
  if (!found) throw new Error(`there is no mechanism ${name}`);
  return acrossTimelines(found) as Slice<PromptCacheState>;
}
