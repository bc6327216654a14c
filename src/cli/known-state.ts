// The state that a directory's project has somewhere already: looked up, never made.
import { listProjects } from "../contexts/project/links.ts";
import type { StorePlace } from "../ledger/open-store.ts";
import type { PlaceFlags } from "./flags.ts";

export interface KnownState {
  stateDir: string;
  /** Undefined: nothing was recorded yet. */
  ledgers?: StorePlace;
}

export function knownState({ cwd, state }: PlaceFlags): KnownState | undefined {
  return listProjects({ cwd, ...(state !== undefined && { state }) }).find(({ here }) => here);
}
