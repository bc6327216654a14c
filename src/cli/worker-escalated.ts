// As what a worker hosts a context: what it was started with counts where it narrows; where it widens, only if that is accepted.
import { isNarrower, isPermissionMode, type PermissionMode } from "../claude-code/permission-modes.ts";
import { readStart } from "../contexts/start.ts";
import { canonicalJson } from "../ledger/content-hash.ts";
import { isEscalating } from "../settings/repository.ts";
import type { WorkFlags } from "./flags.ts";
import type { McpFlags } from "./mcp-servers.ts";
import type { OpenState } from "./open.ts";
import { startOf, type WorkerRule } from "./start.ts";

/** So long it is not looked up again: somebody may go on with the context meanwhile, with other rules. */
const KNOWN_MS = 5_000;

/** As what a context is hosted: as the worker itself, not at all, or with what it remembers. */
export type HostedAs =
  | { kind: "own" }
  | { kind: "refused"; mode: PermissionMode }
  | { kind: "started"; flags: WorkFlags };

export interface Escalated {
  /** Contract: what is remembered is taken up only as `-r` would take it up here. */
  hostedAs(context: string): Promise<HostedAs>;
}

export function createEscalated(state: OpenState, flags: WorkFlags & McpFlags, worker: WorkerRule): Escalated {
  const known = new Map<string, { as: HostedAs; at: number }>();

  async function judge(context: string): Promise<HostedAs> {
    const mode = (await readStart(state.store, context))?.start.permissionMode;
    if (isPermissionMode(mode) && isEscalating(mode) && isNarrower(worker.mode, mode) && !worker.accepts)
      return { kind: "refused", mode };
    const started = await startOf(flags, state, { id: context }, worker);
    const as = started.widens ? started.flags : narrowed(flags, started.flags);
    return canonicalJson(as) === canonicalJson(flags) ? { kind: "own" } : { kind: "started", flags: as };
  }

  return {
    async hostedAs(context) {
      const before = known.get(context);
      if (before && Date.now() - before.at < KNOWN_MS) return before.as;
      const as = await judge(context);
      known.set(context, { as, at: Date.now() });
      return as;
    },
  };
}

/** The worker's own, with no more than what the context was not to do. */
function narrowed<F extends WorkFlags & McpFlags>(flags: F, { deny, ask, ...started }: F): F {
  const { permissionMode, maxRounds, strictMcpConfig } = started;
  return { ...flags, deny, ask, permissionMode, maxRounds, strictMcpConfig };
}
