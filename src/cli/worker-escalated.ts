// Contexts that were started with more than this worker was given: who takes them up, and as what.
import { PERMISSION_MODES, type PermissionMode } from "../claude-code/permission-modes.ts";
import { listContexts } from "../contexts/listing.ts";
import { readStart } from "../contexts/start.ts";
import { isEscalating } from "../settings/repository.ts";
import type { WorkFlags } from "./flags.ts";
import type { OpenState } from "./open.ts";
import { startOf } from "./start.ts";

/** From the narrowest. */
const WIDTHS: Record<PermissionMode, number> = {
  plan: 0,
  dontAsk: 0,
  default: 1,
  acceptEdits: 2,
  auto: 3,
  bypassPermissions: 4,
  bypass: 4,
};

/** As what a context is hosted: as the worker itself, not at all, or with what it remembers. */
export type HostedAs =
  | { kind: "own" }
  | { kind: "refused"; mode: PermissionMode }
  | { kind: "started"; flags: WorkFlags };

export interface Escalated {
  /** `mode`: the worker's own. Contract: what is remembered is taken up only as `-r` would take it up here. */
  hostedAs(context: string): Promise<HostedAs>;
}

export function createEscalated(
  state: OpenState,
  flags: WorkFlags,
  { mode: own, accepts }: { mode: PermissionMode; accepts: boolean },
): Escalated {
  const known = new Map<string, HostedAs>();

  async function judge(context: string): Promise<HostedAs> {
    const remembered = (await readStart(state.store, context))?.start.permissionMode;
    const mode = PERMISSION_MODES.find((one) => one === remembered);
    if (mode === undefined || !isEscalating(mode) || WIDTHS[mode] <= WIDTHS[own]) return { kind: "own" };
    if (!accepts) return { kind: "refused", mode };
    const info = (await listContexts(state.store)).find(({ id }) => id === context);
    const { permissionMode: _, ...others } = flags;
    const started = await startOf({ ...others, permissionMode: undefined }, state, info);
    return started.flags.permissionMode === mode ? { kind: "started", flags: started.flags } : { kind: "own" };
  }

  return {
    async hostedAs(context) {
      const before = known.get(context);
      if (before) return before;
      const judged = await judge(context);
      known.set(context, judged);
      return judged;
    },
  };
}
