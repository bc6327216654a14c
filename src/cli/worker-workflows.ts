// Workflows whose process is gone: a worker takes them up where they stopped.
import { agentLease, listContexts } from "../contexts/listing.ts";
import { type Contexts, openContexts } from "../contexts/open.ts";
import type { Screen } from "../front/text/screen.ts";
import { isHoldfastError, messageOf } from "../ledger/error.ts";
import type { Wake } from "../ledger/store.ts";
import type { FairSlots } from "../loop/fair-slots.ts";
import { AUTHOR } from "../workflow/records.ts";
import { WORKFLOW_WAKES } from "../workflow/run.ts";
import { workflowStatus } from "../workflow/status.ts";
import type { WorkFlags } from "./flags.ts";
import type { OpenState } from "./open.ts";
import { executeWorkflow, specOf } from "./run-workflow.ts";
import type { WorkerRule } from "./start.ts";
import type { HostedAs } from "./worker-escalated.ts";

/** One that could not be taken up is left alone for this long. */
const REST_MS = 30_000;
/** Who holds one is asked this often. */
const LOOK_MS = 1_000;

interface TakingUp {
  flags: WorkFlags;
  state: OpenState;
  screen: Screen;
  slots: FairSlots;
  /** Stops them: they are left for the next host. */
  signal: AbortSignal;
  /** Nobody is taken any more. */
  drain: AbortSignal;
  hostedAs(context: string): Promise<HostedAs>;
  rule: WorkerRule;
  say(text: string): void;
}

export interface InterruptedWorkflows {
  /** What the store says is due. Contract: answers at once. */
  due(wakes: readonly Wake[]): void;
  readonly running: number;
  /** Resolves when none runs any more. */
  settled(): Promise<void>;
}

export function createInterruptedWorkflows(of: TakingUp): InterruptedWorkflows {
  const { flags, state, screen, slots, say } = of;
  const running = new Map<string, Promise<void>>();
  const restsUntil = new Map<string, number>();
  let contexts: Promise<Contexts> | undefined;

  async function takeUp(id: string): Promise<void> {
    if ((await of.hostedAs(id)).kind === "refused") return void restsUntil.set(id, Number.POSITIVE_INFINITY);
    const held = await state.store.leases.inspect(agentLease(id, AUTHOR));
    if (held && held.expiresInMs > 0) return void restsUntil.set(id, Date.now() + LOOK_MS);
    const info = (await listContexts(state.store)).find((one) => one.id === id);
    if (info?.status !== "interrupted") return void restsUntil.set(id, Date.now() + LOOK_MS);
    contexts ??= openContexts({ store: state.store });
    const context = await (await contexts).get(id);
    const status = await workflowStatus(context, { status: info.status });
    if (status?.state !== "interrupted") return void restsUntil.set(id, Date.now() + LOOK_MS);
    say(`${id}: its workflow ${status.name} was interrupted; it goes on here`);
    const done = await executeWorkflow({
      ...{ flags, state, contexts: await contexts, context, info, screen, spec: await specOf(state, status) },
      ...{ signal: of.signal, whenStopped: "leaves", placed, worker: of.rule },
    });
    say(`${id}: its workflow ${done.name} is ${done.state}`);
  }

  /** One agent of it: in turns with the others of this process. */
  async function placed<T>(context: string, work: () => Promise<T>): Promise<T> {
    if (!slots.enter()) await new Promise<void>((offer) => slots.queue(context, offer));
    try {
      return await work();
    } finally {
      slots.leave();
    }
  }

  return {
    get running() {
      return running.size;
    },
    due(wakes) {
      for (const { context, by } of wakes) {
        if (by !== WORKFLOW_WAKES || running.has(context) || of.drain.aborted || of.signal.aborted) continue;
        if ((restsUntil.get(context) ?? 0) > Date.now()) continue;
        const work = takeUp(context)
          .catch((error) => {
            restsUntil.set(context, Date.now() + REST_MS);
            if (!isHoldfastError(error, "held")) say(`${context} cannot be taken up: ${messageOf(error)}`);
          })
          .finally(() => running.delete(context));
        running.set(context, work);
      }
    },
    async settled() {
      await Promise.all(running.values());
    },
  };
}
