// `holdfast worker`: a process that hosts teammates and schedules of this project until it is told to end.
import { keepSweeping } from "../../contexts/sweep.ts";
import { requestLine } from "../../front/presentation/command-line.ts";
import { printable } from "../../front/presentation/printable.ts";
import { createHostedOutput } from "../../front/text/hosted-output.ts";
import { createScreen, isLiveTerminal } from "../../front/text/screen.ts";
import type { WorkFlags } from "../flags.ts";
import { openState } from "../open.ts";
import { openHarness } from "../open-harness.ts";

export async function worker(flags: WorkFlags & { concurrency?: number; debug: boolean }): Promise<number> {
  const state = await openState(flags);
  try {
    const screen = createScreen({ isLive: isLiveTerminal() });
    const { harness, settings, asksHere } = await openHarness(flags, state, { screen });
    for (const line of settings.says) process.stderr.write(`holdfast: ${printable(line)}\n`);
    const show = createHostedOutput({ quiet: flags.quiet, screen, asksHere, toSee: (id) => requestLine(id, flags) });
    const over = new AbortController();
    let times = 0;
    const leave = (signal: NodeJS.Signals) => {
      if (signal !== "SIGHUP" && ++times > 1) process.exit(130);
      over.abort();
      screen.print(["Ending; what runs is taken up by the next host."]);
    };
    process.on("SIGINT", leave).on("SIGTERM", leave).on("SIGHUP", leave);
    const hosting = await harness.hosting({
      ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
      onProblem: (text) => screen.print([`holdfast: ${printable(text)}`]),
      onTaken: ({ ledger }, agent) => show(ledger, agent),
    });
    if (!flags.quiet)
      screen.print([`Hosting the teams and schedules of ${printable(state.project.root)}. Ctrl-C ends it.`]);
    const { ttlMs } = state.expiry;
    const sweeper = keepSweeping(state.store, ttlMs === undefined ? {} : { defaultTtlMs: ttlMs });
    try {
      await hosting.run(over.signal);
    } finally {
      await sweeper.stop();
      process.removeListener("SIGINT", leave).removeListener("SIGTERM", leave).removeListener("SIGHUP", leave);
      screen.close();
      await harness.close();
    }
    return 0;
  } finally {
    await state.store.close();
  }
}
