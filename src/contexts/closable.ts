// Owns letting a context go: a handle that was closed holds nothing, and says so.
import { HoldfastError } from "../ledger/error.ts";
import type { Timeline } from "./timeline.ts";

export interface Closable {
  timeline: Timeline;
  close(): void;
}

/** The same timeline until it is closed; then every use of it is refused. */
export function closable(opened: Timeline): Closable {
  let inner: Timeline | undefined = opened;
  const { id, store } = opened;
  const open = (): Timeline => {
    if (inner) return inner;
    throw new HoldfastError("closed", `this handle of ${id} was closed: get the context again`);
  };
  return {
    timeline: {
      id,
      store,
      get state() {
        return open().state;
      },
      get damage() {
        return open().damage;
      },
      catchUp: async () => open().catchUp(),
      write: async (decide, opts) => open().write(decide, opts),
      recent: (seq) => open().recent(seq),
      saveSnapshot: async () => open().saveSnapshot(),
    },
    close() {
      inner = undefined;
    },
  };
}
