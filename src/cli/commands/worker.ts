// Owns `holdfast worker`: a process that hosts teammates and schedules of this project until it is told to end.
import { keepSweeping } from "../../contexts/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Flags } from "../args.ts";
import { openHarness } from "../harness.ts";
import { openState } from "../open.ts";
import { printable } from "../printable.ts";
import { createTextOutput } from "../text-output.ts";

export async function worker(flags: Flags): Promise<number> {
  const state = await openState(flags);
  try {
    const { harness, settings } = await openHarness(flags, state);
    for (const line of settings.says) process.stderr.write(`holdfast: ${printable(line)}\n`);
    const output = createTextOutput(flags);
    const over = new AbortController();
    let times = 0;
    const leave = (signal: NodeJS.Signals) => {
      if (signal !== "SIGHUP" && ++times > 1) process.exit(130);
      process.stderr.write("Ending; what runs is taken up by the next host.\n");
      over.abort();
    };
    process.on("SIGINT", leave).on("SIGTERM", leave).on("SIGHUP", leave);
    const here = new Map<Ledger, Set<string>>();
    const hosting = await harness.hosting({
      ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
      onProblem: (text) => process.stderr.write(`holdfast: ${printable(text)}\n`),
      onTaken({ ledger }, agent) {
        const agents = here.get(ledger) ?? new Set();
        if (agents.size === 0)
          ledger.subscribe((event) => agents.has(event.actor) && output.event({ type: "event", event }));
        here.set(ledger, agents.add(agent));
      },
    });
    if (!flags.quiet)
      process.stderr.write(`Hosting the teams and schedules of ${printable(state.project.root)}. Ctrl-C ends it.\n`);
    const { ttlMs } = state.expiry;
    const sweeper = keepSweeping(state.store, ttlMs === undefined ? {} : { defaultTtlMs: ttlMs });
    try {
      await hosting.run(over.signal);
    } finally {
      await sweeper.stop();
      process.removeListener("SIGINT", leave).removeListener("SIGTERM", leave).removeListener("SIGHUP", leave);
      await harness.close();
    }
    return 0;
  } finally {
    await state.store.close();
  }
}
