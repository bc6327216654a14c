// Which two checkpoints the tab of files begins with, where another tab chose them.
import type { ContextKey } from "../../../api.ts";
import { keyOfContext } from "../../overview.ts";

export interface ComparedFiles {
  from: number;
  /** Undefined: to now. */
  to?: number;
}

let chosen: { key: string; compared: ComparedFiles } | undefined;

export function compareNext(key: ContextKey, compared: ComparedFiles): void {
  chosen = { key: keyOfContext(key), compared };
}

/** Contract: once. */
export function takeCompared(key: ContextKey): ComparedFiles | undefined {
  const taken = chosen?.key === keyOfContext(key) ? chosen.compared : undefined;
  chosen = undefined;
  return taken;
}
