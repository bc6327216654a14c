// What Ctrl-C, a polite kill and a lost terminal do to a turn: it ends cleanly, and can be taken up again.

interface Interruptible {
  interrupt(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Once interrupts the turn cleanly; a second time leaves at once. A lost terminal may say so twice, and is in no hurry.
 * Contract: listens before the context is opened; a signal that comes before there is a turn leaves at once.
 */
export function interruptOnSignals(say: (line: string) => void): { of(run: Interruptible): void; leave(): void } {
  let times = 0;
  let run: Interruptible | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (!run || (signal !== "SIGHUP" && ++times > 1)) process.exit(130);
    run.interrupt();
    say(signal === "SIGINT" ? "Interrupting; Ctrl-C once more leaves at once." : "Interrupting.");
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    of(begun) {
      run = begun;
    },
    leave() {
      for (const signal of SIGNALS) process.removeListener(signal, onSignal);
    },
  };
}
