// One project of a worker: its store, its harness, and whom it hosts there.
import { keepSweeping } from "../contexts/sweep.ts";
import { commandLine, requestLine } from "../front/presentation/command-line.ts";
import { printable } from "../front/presentation/printable.ts";
import { createHostedOutput } from "../front/text/hosted-output.ts";
import type { Screen } from "../front/text/screen.ts";
import type { Harness } from "../harness.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import type { Store } from "../ledger/store.ts";
import type { FairSlots } from "../loop/fair-slots.ts";
import type { WorkFlags } from "./flags.ts";
import { type OpenState, openState } from "./open.ts";
import { openHarness } from "./open-harness.ts";
import { backupOfWorker } from "./worker-backup.ts";
import { createEscalated } from "./worker-escalated.ts";
import { createInterruptedWorkflows } from "./worker-workflows.ts";

export interface WorkerFlags extends WorkFlags {
  acceptLoss: boolean;
  acceptEscalated: boolean;
}

export interface WorkerProject {
  readonly id: string;
  readonly root: string;
  /** Where its ledgers are. */
  readonly url: string;
  /** Agents and workflows that run here now. */
  readonly running: number;
  /** Contract: resolves after `drain` when nothing runs any more, on `signal` when everything was interrupted and let go. */
  run(signal: AbortSignal, drain: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface Sharing {
  screen: Screen;
  slots: FairSlots;
}

export async function openWorkerProject(flags: WorkerFlags, sharing: Sharing): Promise<WorkerProject> {
  const state = await openState(flags, { patient: true });
  try {
    refuseLossy(state.store, flags);
    return await hostedProject(flags, state, sharing);
  } catch (error) {
    await state.store.close();
    throw error;
  }
}

/** A worker works for days, unwatched: what it was told is recorded must not be lost without a word. */
function refuseLossy({ durability }: Store, { acceptLoss }: WorkerFlags): void {
  if (acceptLoss || durability.class === "power-safe" || durability.class === "replica-confirmed") return;
  throw new HoldfastError(
    "refused",
    `${durability.says.replace(/[.\s]+$/, "")}: change that, or give --accept-loss if you can do without what is lost`,
  );
}

async function hostedProject(flags: WorkerFlags, state: OpenState, sharing: Sharing): Promise<WorkerProject> {
  const { screen, slots } = sharing;
  const { store, project, expiry } = state;
  const say = (text: string) => screen.print([`holdfast: ${printable(text)}`]);
  const open = async (with_: WorkFlags) => openHarness(with_, state, { screen });
  const { harness, settings, asksHere } = await open(flags);
  for (const line of settings.says) say(line);
  const mode = settings.permissions.policy?.mode ?? "default";
  const rule = { mode, accepts: flags.acceptEscalated };
  const escalated = createEscalated(state, flags, rule);
  const show = createHostedOutput({ quiet: flags.quiet, screen, asksHere, toSee: (id) => requestLine(id, flags) });
  /** Of contexts that go on with what they were started with: one harness for those that were started alike. */
  const apart = new Map<string, Promise<Harness>>();
  const hosted: { running: number; done: Promise<void> }[] = [];
  const refused = new Set<string>();
  let workflows: ReturnType<typeof createInterruptedWorkflows> | undefined;
  let backup: Awaited<ReturnType<typeof backupOfWorker>>;

  /** Contract: whether the harness of that key hosts it; one that wants a harness of its own gets it. */
  async function isFor(key: string, context: string, ends: Ends): Promise<boolean> {
    const as = await escalated.hostedAs(context);
    if (as.kind === "own") return key === OWN;
    if (as.kind === "refused") {
      if (!refused.has(context)) say(refusal(context, as.mode, mode, flags));
      refused.add(context);
      return false;
    }
    const its = JSON.stringify(as.flags);
    if (!apart.has(its)) {
      const opening = open(as.flags).then((opened) => opened.harness);
      apart.set(its, opening);
      opening.then((other) => host(other, its, ends)).catch((error) => say(messageOf(error)));
    }
    return key === its;
  }

  async function host(by: Harness, key: string, ends: Ends): Promise<void> {
    const hosting = await by.hosting({
      concurrency: slots,
      accepts: (context) => isFor(key, context, ends),
      ...(key === OWN && { onDue: (wakes) => workflows?.due(wakes) }),
      onProblem: say,
      onTaken: ({ ledger }, agent) => show(ledger, agent),
    });
    const done = hosting.run(ends.signal, ends.drain);
    hosted.push({
      get running() {
        return hosting.running;
      },
      done,
    });
  }

  return {
    id: project.id,
    root: project.root,
    url: store.url,
    get running() {
      return hosted.reduce((sum, one) => sum + one.running, workflows?.running ?? 0);
    },
    async run(signal, drain) {
      const ends = { signal, drain };
      workflows = createInterruptedWorkflows({
        ...{ flags, state, screen, slots, signal, drain, say, rule },
        hostedAs: (context) => escalated.hostedAs(context),
      });
      backup = await backupOfWorker(flags, state, say);
      const { ttlMs } = expiry;
      const sweeper = keepSweeping(store, ttlMs === undefined ? {} : { defaultTtlMs: ttlMs });
      try {
        await host(harness, OWN, ends);
        await hosted[0]?.done;
        await Promise.all(hosted.map((one) => one.done)); // others came meanwhile
        await workflows.settled();
      } finally {
        await sweeper.stop();
      }
    },
    async close() {
      for (const other of apart.values()) await other.then((opened) => opened.close()).catch(() => undefined);
      await harness.close();
      await backup?.stop(); // with what was recorded last
      await store.close();
    },
  };
}

/** Hosted as the worker itself. */
const OWN = "";

interface Ends {
  signal: AbortSignal;
  drain: AbortSignal;
}

const refusal = (context: string, remembered: string, own: string, flags: WorkFlags): string =>
  `${context} is not hosted: it was started with --permission-mode ${remembered}, and this worker has ${own}: ${commandLine(["worker", "--accept-escalated"], flags)} takes it up`;
