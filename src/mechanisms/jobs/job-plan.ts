// The plan of a job as a ledger has it: written by an earlier process, or by whoever else may write there.
import { isRecord } from "../../ledger/guards.ts";
import type { JobPlan } from "./port.ts";

/** Contract: of the shape of a plan. Whether its id leads anywhere is asked by whoever makes a path of it (`isJobId`). */
export function planIn(intent: unknown): JobPlan {
  const { jobId, dir, boot, machine } = isRecord(intent) ? intent : {};
  return {
    ...{ jobId: textOf(jobId), dir: textOf(dir), boot: textOf(boot) },
    ...(typeof machine === "string" && { machine }),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
