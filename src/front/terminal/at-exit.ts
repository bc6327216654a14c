// What has to be put right on the terminal however the process ends: at exit, by a signal, by an exception that nobody caught.

const SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

/** One set of listeners for all that wait. */
const waiting = new Set<() => void>();

/** Contract: `restore` is synchronous, and may be called twice. Gives the function that takes it off again. */
export function restoreAtExit(restore: () => void): () => void {
  if (waiting.size === 0) listen();
  waiting.add(restore);
  return () => {
    if (waiting.delete(restore) && waiting.size === 0) unlisten();
  };
}

/** The last that was turned on is the first to be restored. A terminal that is gone takes nothing: that is no reason to stop. */
function restoreAll(): void {
  for (const restore of [...waiting].reverse()) {
    try {
      restore();
    } catch {}
  }
  waiting.clear();
  unlisten();
}

/** Who alone listens to a signal takes its effect away: it is sent again. Where somebody else listens too, that one decides. */
function onSignal(signal: NodeJS.Signals): void {
  const isAlone = process.listenerCount(signal) === 1;
  restoreAll();
  if (isAlone) process.kill(process.pid, signal);
}

function listen(): void {
  process.on("exit", restoreAll);
  process.on("uncaughtExceptionMonitor", restoreAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function unlisten(): void {
  process.off("exit", restoreAll);
  process.off("uncaughtExceptionMonitor", restoreAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}
