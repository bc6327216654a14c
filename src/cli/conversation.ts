// A context for as long as somebody sits at it: opened with its harness, driven turn after turn, its team hosted beside it.
import type { PermissionMode } from "../claude-code/permission-modes.ts";
import type { ContextInfo } from "../contexts/listing.ts";
import { seenFacts } from "../file-access/seen-files.ts";
import type { Harness, Run } from "../harness.ts";
import type { ApprovalsOptions } from "../mechanisms/approvals/index.ts";
import type { RanCommand } from "../mechanisms/person-commands/index.ts";
import type { Model } from "../models/model.ts";
import { driveRun, type HarnessEvent, type RunResult } from "../run-result.ts";
import type { WorkFlags } from "./flags.ts";
import { insteadOfWaiting, sayHeld, takenOver, WAIT_MS, waitText } from "./going-on.ts";
import type { McpFlags } from "./mcp-servers.ts";
import { isIn, type OpenState, stateAt } from "./open.ts";
import { openHarness } from "./open-harness.ts";
import { contentOf } from "./prompt.ts";
import { beginContext, type NewConversation } from "./session.ts";
import type { OpenSettings } from "./settings.ts";
import { begunWith, startOf } from "./start.ts";

export type ConversationFlags = WorkFlags &
  McpFlags &
  NewConversation["flags"] & { pluginDir?: string[]; name?: string | undefined; goal?: string | undefined };

/** What whoever sits there is told. */
export interface ConversationDoor {
  event(event: HarnessEvent): void;
  result(result: RunResult): void;
  /** The context is held, and what it holds is known; before anything happens in it. */
  opened(run: Run): void;
  /** One line each. */
  says(lines: readonly string[]): void;
  ask: NonNullable<ApprovalsOptions["onAsk"]>;
  /** It cannot go on: the lease was lost, the disk is full. */
  failed(error: unknown): void;
}

export interface OpenConversation {
  readonly harness: Harness;
  readonly model: Model;
  readonly settings: OpenSettings;
  readonly mode: PermissionMode;
  readonly servers: readonly string[];
  readonly state: OpenState;
  /** Undefined before the first prompt. */
  readonly run: Run | undefined;
  /** Undefined while nothing is recorded. */
  readonly contextId: string | undefined;
  /** Contract: durable when it resolves. `waits`: a turn of its own, behind the one that runs. */
  send(words: string, how?: { waits?: boolean }): Promise<void>;
  /** A command of the person's own has ended: it goes with their next words. Contract: durable when it resolves. */
  ran(command: RanCommand): Promise<void>;
  /** Takes up what was cut off; `stopped`: also a turn that was stopped on purpose. */
  takeUp(how?: { stopped?: boolean }): Promise<void>;
  /** Ends the turn that runs, cleanly; false when none does. */
  interrupt(): boolean;
  /** Lets the context go; a turn that runs is interrupted, and can be taken up. */
  close(): Promise<void>;
}

export async function openConversation(
  flags: ConversationFlags,
  opened: OpenState,
  { context, door }: { context: ContextInfo | undefined; door: ConversationDoor },
): Promise<OpenConversation> {
  const state = stateAt(opened, flags, context);
  const started = await startOf(flags, state, context);
  const work = { ...started.flags, stay: true };
  const { harness, model, settings, modelSpec, servers } = await openHarness(work, state, { ask: door.ask }).catch(
    (error) => begunWith(error, context, flags),
  );
  const mode = settings.permissions.policy?.mode ?? "default";
  const record = started.record({ settings, ...(modelSpec && { modelSpec }) });
  const over = new AbortController();
  let run: Run | undefined;
  let driven: Promise<void> = Promise.resolve();
  /** Of the context that is gone on with; said once it is held. */
  const says = [
    ...(context && !isIn(opened.project, context) ? [`${context.id} goes on in ${context.root}`] : []),
    ...started.says(mode),
  ];

  async function open(
    content: Parameters<Harness["run"]>[0],
    id: string,
    seen: Parameters<Harness["run"]>[1],
  ): Promise<Run> {
    let recording: Promise<unknown> = Promise.resolve();
    const opening = harness.run(content, {
      ...seen,
      context: id,
      wait: AbortSignal.any([over.signal, AbortSignal.timeout(WAIT_MS)]),
      onWait: (by) => context && door.says([waitText(by, { id, ends: insteadOfWaiting(context, flags) })]),
      takeOverInteractive: context !== undefined, // a person names what is gone on with
      onEvent: door.event,
      onOpen: (held) => {
        // Held, and before anything happens in it: whoever comes after a kill goes on with what was typed here.
        if (context && record)
          recording = state.store.append([{ ledger: held, events: [harness.host.codec.encode(record(held))] }]);
        recording.catch(() => undefined); // awaited below
      },
    });
    const begun = await opening.catch((error) => sayHeld(error, { context, flags }));
    run = begun;
    door.opened(begun);
    door.says([...takenOver(begun, state.store), ...says.splice(0)]);
    await recording;
    driven = drive(begun).catch((error) => door.failed(error));
    await begun.accepted;
    return begun;
  }

  /** Until it is closed: what was said is answered, and what comes by itself (a finished job, a message, a schedule) is taken in. */
  async function drive(begun: Run): Promise<void> {
    const { agent } = begun.taken;
    const hosting = await harness.hosting({ context: begun.context, onProblem: (text) => door.says([text]) });
    const hosted = hosting.run(over.signal);
    try {
      const first = await begun.result;
      if (first.rounds > 0 || first.reason !== "done") door.result(first);
      await driveRun(begun, {
        signal: over.signal,
        onResult: door.result,
        async wait() {
          await agent.untilWoken(over.signal);
          return !over.signal.aborted;
        },
      });
    } finally {
      over.abort();
      await hosted;
    }
  }

  /** Of a context that began here, with words or with a command of the person's own. */
  let begunHere: Promise<string> | undefined;
  let contextId = context?.id;

  async function idOf(title: string): Promise<string> {
    if (context) return context.id;
    const given = { flags, harness, title: flags.name ?? title, state, trusted: settings.trusted, record };
    begunHere ??= beginContext(given);
    begunHere.catch(() => {
      begunHere = undefined; // it is tried again with the next words
    });
    contextId = await begunHere;
    return contextId;
  }

  return {
    harness,
    model,
    settings,
    mode,
    servers,
    state,
    get run() {
      return run;
    },
    get contextId() {
      return contextId;
    },
    async send(words, { waits = false } = {}) {
      const place = { settings, root: state.project.root, cwd: flags.cwd, servers };
      const { content, seen } = await contentOf({ words }, place);
      if (run) await run.send(content, { waits, facts: (id) => seenFacts(seen, id) });
      else await open(content, await idOf(words), { seen, goal: flags.goal });
    },
    async ran(command) {
      const ledger = run?.taken.ledger ?? (await harness.host.open(await idOf("")));
      await ledger.append([{ type: "command.ran", actor: "user", data: command }]);
    },
    async takeUp({ stopped = false } = {}) {
      if (!run && context) await open(undefined, context.id, { leavesStopped: !stopped });
    },
    interrupt() {
      if (!run?.taken.agent.hasWork()) return false;
      run.interrupt();
      return true;
    },
    async close() {
      over.abort();
      if (run?.taken.agent.hasWork()) run.interrupt();
      await run?.result.catch(() => undefined);
      await driven;
      await harness.close();
    },
  };
}
