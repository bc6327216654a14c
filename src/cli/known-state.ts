// The state that a directory's project has somewhere already: looked up, never made.
import fs from "node:fs";
import { dirname } from "node:path";
import { listProjects } from "../contexts/project/links.ts";
import { openHome } from "../contexts/project.ts";
import type { StorePlace } from "../ledger/open-store.ts";
import type { PlaceFlags } from "./flags.ts";

export interface KnownState {
  stateDir: string;
  /** Undefined: nothing was recorded yet. */
  ledgers?: StorePlace;
}

export function knownState({ cwd, state }: PlaceFlags): KnownState | undefined {
  const where = state === undefined ? {} : { state };
  const { file } = openHome(where);
  if (file !== undefined) return fs.existsSync(file) ? { stateDir: dirname(file), ledgers: { file } } : undefined;
  return listProjects({ cwd, ...where }).find(({ here }) => here);
}
