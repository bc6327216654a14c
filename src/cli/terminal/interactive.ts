// `holdfast`: the interactive terminal. The prompt is there at once; the context is opened behind it, and goes on until somebody leaves.

import { setImmediate as painted, setTimeout as sleep } from "node:timers/promises";
import type { ContextInfo } from "../../contexts/listing.ts";
import { explainState } from "../../front/presentation/command-line.ts";
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { isDumb } from "../../front/presentation/style.ts";
import { silentText } from "../../front/terminal/status-line.ts";
import { type OpenTerminal, openTerminal } from "../../front/terminal/terminal.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import { contextRoot } from "../../loop/transcript.ts";
import { endText, type RanCommand } from "../../mechanisms/person-commands/index.ts";
import type { RunResult } from "../../run-result.ts";
import { nearestName } from "../../text/similarity.ts";
import { type ConversationFlags, type OpenConversation, openConversation } from "../conversation.ts";
import { errorText } from "../error-text.ts";
import type { PlaceFlags } from "../flags.ts";
import { leftBehind } from "../left-behind.ts";
import { chosenContext, type OpenState, openState } from "../open.ts";
import { forked } from "../session.ts";
import { slashCommand } from "./commands.ts";
import { createCompletions } from "./completions.ts";
import { createDesk } from "./desk.ts";
import { headingLine, thingsToTry } from "./greeting.ts";
import { pastPrompts, recentPast } from "./past.ts";
import { runPersonCommand } from "./person-command.ts";
import { createStatus } from "./status.ts";
import { untilFree, watchStore } from "./store-watch.ts";
import { asksTrust } from "./trust-question.ts";

export type InteractiveFlags = ConversationFlags & PlaceFlags & { screenReader?: boolean };

interface ChangeTo {
  flags?: Partial<InteractiveFlags>;
  /** Another context, or undefined for a new one; without it the same. */
  context?: ContextInfo | undefined;
  /** Done while nobody holds the context; what is typed meanwhile waits. */
  between?: () => Promise<void>;
}

/** What the parts of the terminal share: it is replaced as a whole when another context, model or mode is chosen. */
export interface Sitting {
  readonly terminal: OpenTerminal;
  readonly state: OpenState;
  flags: InteractiveFlags;
  /** Undefined while it is opened. */
  conversation: OpenConversation | undefined;
  /** Lets the conversation go and opens another: with other flags, of another context, or a new one. */
  change(to: ChangeTo): Promise<void>;
  /** Contract: says so, and gives true, while the agent is at work: what would end that is not done on the side. */
  isBusy(): boolean;
  /** Contract: true when something is at work: then it is changed when that is over. */
  changeLater(flags: Partial<InteractiveFlags>): boolean;
  /** Says what went wrong, and goes on. */
  attempt(work: () => Promise<void> | void): Promise<void>;
}

/** As a shell splits them; a command that is asked about is one word. */
function wordsOf(name: string, rest: string): string[] {
  const checked = name === "permissions" ? /^check\s+([^"'][\s\S]*)$/.exec(rest)?.[1] : undefined;
  if (checked !== undefined) return ["check", checked.trim()];
  return [...rest.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

const SETTLE_MS = 120;
/** What is recorded sooner is not shown twice. */
const SEEN_MS = 300;
/** Leaving waits so long for what is just being opened. */
const OPENING_MS = 1_000;
const STOPPED = "· interrupted; say how to go on, or just: go on";

export async function interactive(given: InteractiveFlags, words: string[]): Promise<number> {
  const flags: InteractiveFlags = { ...given, door: "terminal" };
  explainState(flags); // before there is a screen
  const state = await openState(flags, { interactive: true });
  const left = Promise.withResolvers<number>();
  const over = new AbortController();
  const history: string[] = [];
  const watch = watchStore(state.store, (since) => {
    if (terminal.isDrawn) terminal.changed("at once");
    else transcript.say([since === undefined ? "· the store answers again" : `· ${silentText(since)}`]);
  });
  const status = createStatus(() => sitting.conversation, flags, watch.silentSince);
  const isPlain = flags.screenReader === true || isDumb(process.env);
  const open = isPlain ? (await import("../../front/terminal/plain-terminal.ts")).openPlainTerminal : openTerminal;
  const terminal = open({
    history,
    complete: createCompletions(() => sitting.conversation, { root: state.project.root, signal: over.signal }),
    status: status.now,
    keys: {
      interrupt: () => interruptPerson() || interrupt(),
      leave: () => left.resolve(0),
      submit: (text, { queued }) => void sitting.attempt(() => submit(text, queued)),
      nextMode: () => void sitting.attempt(() => desk.nextMode()),
      team: () => void sitting.attempt(() => desk.team()),
      rewind: () => void sitting.attempt(() => desk.rewind()),
    },
  });
  const { transcript } = terminal;
  let runs: AbortController | undefined;
  let last: RunResult | undefined;
  /** What was chosen while something was at work. */
  let later: Partial<InteractiveFlags> | undefined;
  let sending: Promise<void> = Promise.resolve();
  /** Until the conversation is open, and while it is changed, words wait. */
  let ready: Promise<void> = Promise.resolve();
  /** What was typed and is not recorded yet. */
  const unrecorded: string[] = [];

  const sitting: Sitting = {
    terminal,
    state,
    flags,
    conversation: undefined,
    change(to) {
      const changed = ready.then(() => changeTo(to));
      ready = changed.catch(() => undefined); // said by whoever asked for it; what was open stays open
      return changed;
    },
    isBusy() {
      const is = sitting.conversation?.run?.taken.agent.hasWork() ?? false;
      if (is) transcript.say(["it is at work: Esc interrupts it, or wait until it is done"]);
      return is;
    },
    changeLater(to) {
      if (!sitting.conversation?.run?.taken.agent.hasWork()) return false;
      later = { ...later, ...to };
      return true;
    },
    async attempt(work) {
      try {
        await work();
      } catch (error) {
        transcript.say([`${terminal.style.red("✗")} ${errorText(error).replace(/\s*\n\s*/g, " ")}`]);
      }
    },
  };
  const desk = createDesk(sitting, { last: () => last, leave: () => left.resolve(0), send });

  async function changeTo(to: ChangeTo): Promise<void> {
    const before = sitting.conversation;
    const same = before?.run && "context" in to ? undefined : await infoOf(before);
    const context = "context" in to ? to.context : same;
    /** What was at work goes on with what is chosen now; what somebody stopped does not. */
    const stopped = !("context" in to) && (before?.run?.taken.agent.hasWork() ?? false);
    sitting.conversation = undefined;
    await before?.close();
    await sitting.attempt(() => to.between?.());
    const next = { ...sitting.flags, ...to.flags };
    try {
      const opened = await terminal.opening(() => openConversation(next, state, { context, door }));
      sitting.conversation = opened;
      // One that another process holds is not gone over to.
      if (context) await opened.takeUp({ stopped }).catch((error) => opened.close().then(() => Promise.reject(error)));
      sitting.flags = next;
    } catch (error) {
      if (!before) throw error;
      // What was asked for cannot be had: everything is as it was.
      sitting.conversation = await openConversation(sitting.flags, state, { context: await infoOf(before), door });
      await sitting.conversation.takeUp({ stopped });
      throw error;
    } finally {
      status.changed();
    }
  }

  const infoOf = async (of: OpenConversation | undefined): Promise<ContextInfo | undefined> => {
    if (of?.contextId === undefined) return undefined;
    const { listContexts } = await import("../../contexts/index.ts");
    return (await listContexts(state.store)).find(({ id }) => id === of.contextId);
  };

  const door: Parameters<typeof openConversation>[2]["door"] = {
    event(event) {
      transcript.event(event);
      if (event.type === "event") status.changed();
    },
    result(result) {
      last = result;
      if (later && !sitting.conversation?.run?.taken.agent.hasWork()) {
        const flags = later;
        later = undefined;
        void sitting.attempt(() => sitting.change({ flags }));
      }
      if (result.reason !== "done" && result.reason !== "interrupted" && result.error === undefined)
        transcript.say([terminal.style.dim(`· ended early: ${result.reason}`)]);
      if (result.reason === "interrupted") transcript.say([terminal.style.dim(STOPPED)]);
    },
    opened(run) {
      const { turn } = run.taken.agent;
      transcript.resume(turn);
      status.changed();
      const wasStopped = turn.state.turn === undefined && turn.state.lastTurn?.reason === "interrupted";
      if (wasStopped && turn.state.queue.length === 0) transcript.say([terminal.style.dim(STOPPED)]);
    },
    says: (lines) => lines.length > 0 && transcript.say(lines.map((line) => terminal.style.dim(`· ${line}`))),
    ask: (request, signal) => terminal.ask(request, signal),
    failed(error) {
      const isSilence = isHoldfastError(error, "fenced") || isHoldfastError(error, "unreachable");
      if (isSilence && state.store.reach === "network") void regain().catch(giveUp);
      else giveUp(error);

      async function regain(): Promise<void> {
        const id = sitting.conversation?.contextId;
        if (id === undefined) throw error;
        const free = untilFree(state.store, id, over.signal);
        ready = Promise.allSettled([ready, free]).then(() => undefined);
        door.says([
          "the store was not heard of in time, and this context let go: it is taken up again once it answers",
        ]);
        const found = await free;
        if (found === "another's") throw error;
        if (found === "free") await sitting.change({});
      }
    },
  };

  function giveUp(error: unknown): void {
    transcript.say([`${terminal.style.red("✗")} ${errorText(error)}`]);
    left.resolve(isHoldfastError(error, "fenced") ? 2 : 1);
  }

  function interrupt(): boolean {
    if (!sitting.conversation?.interrupt()) return false;
    terminal.running.interrupting();
    terminal.changed("at once");
    return true;
  }

  /** Contract: true when a command of the person's own was running. */
  function interruptPerson(): boolean {
    runs?.abort();
    return runs !== undefined;
  }

  /** One after the other: the first words begin the context that the next ones go to. */
  function send(text: string, how: { waits?: boolean } = {}): Promise<void> {
    const sent = sending.then(async () => {
      await ready;
      await sitting.conversation?.send(text, how);
    });
    sending = sent.catch(() => undefined);
    return sent;
  }

  /** What was typed stands there until it is recorded; what could not be is given back. */
  async function sendTyped(text: string, how: { waits: boolean }): Promise<void> {
    const show = () => {
      terminal.running.sending(unrecorded);
      terminal.changed();
    };
    unrecorded.push(text);
    const showing = setTimeout(show, SEEN_MS);
    try {
      await send(text, how);
    } catch (error) {
      if (terminal.prompt.isEmpty) terminal.prompt.set(text);
      else door.says([`not known to be recorded, Up brings it back: ${oneLine(text, 200)}`]);
      throw error;
    } finally {
      clearTimeout(showing);
      unrecorded.splice(unrecorded.indexOf(text), 1);
      show();
    }
  }

  async function submit(text: string, queued: boolean): Promise<void> {
    if (text.startsWith("!")) return personRuns(text.slice(1).trim());
    const [, name, rest = ""] = /^\/([\w:-]+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
    if (name === undefined) return sendTyped(text, { waits: queued });
    const command = slashCommand(name);
    if (command) {
      if (terminal.isDrawn) transcript.say(["", terminal.style.dim(oneLine(text, 200))]); // otherwise it stands there as it was typed
      return command.run(desk, wordsOf(name, rest));
    }
    const known = await desk.skillNames();
    if (known.includes(name) || name.includes(":")) return sendTyped(text, { waits: queued });
    const near = nearestName(name, [...desk.commandNames(), ...known]);
    transcript.say([`there is no /${name}${near ? `: did you mean /${near}?` : "; /help lists what there is"}`]);
  }

  async function personRuns(command: string): Promise<void> {
    if (command === "") return;
    if (terminal.isDrawn) transcript.say([`${terminal.style.cyan("!")} ${terminal.style.bold(command)}`]);
    runs = new AbortController();
    terminal.running.personRuns(oneLine(command, 60));
    let rest = "";
    const tell = (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      if (lines.length > 0) transcript.say(lines.map((line) => `  ${line}`));
    };
    const cwd = sitting.conversation?.state.project.root ?? state.project.root; // wherever the agent has gone
    const end = await runPersonCommand(command, { cwd, signal: runs.signal, tell });
    runs = undefined;
    terminal.running.personRuns(undefined);
    if (rest !== "") tell("\n");
    await record(end);
  }

  /** With the words around it, in order: it is of the context that was open when it ended. */
  function record(end: RanCommand): Promise<void> {
    const recorded = sending.then(async () => {
      await ready;
      await sitting.conversation?.ran(end);
      // Before the first words nobody holds the context: then nothing is told by it.
      if (!sitting.conversation?.run)
        transcript.say([terminal.style.dim(`· ${endText(end)}; it goes with your first words`)]);
    });
    sending = recorded.catch(() => undefined);
    return recorded;
  }

  const onSignal = (signal: NodeJS.Signals) => left.resolve(signal === "SIGHUP" ? 129 : 143);
  process.on("SIGTERM", onSignal).on("SIGHUP", onSignal);
  /** Until the prompt's first words are on their way. */
  async function begin(): Promise<void> {
    const { style } = terminal;
    transcript.say([headingLine(state, style)]);
    await painted(); // what follows may take a while: it is behind a prompt that takes words already
    // `-r` alone: the person chooses.
    const isChosenHere = flags.resume === "" && !flags.continue;
    const chosen = isChosenHere ? undefined : await chosenContext(state, flags);
    const context = chosen && flags.forkSession ? await forked(state, chosen) : chosen;
    if (context) transcript.say(await recentPast(state, context, terminal));
    await sitting.change({ context });
    const past = await pastPrompts(state);
    terminal.prompt.remember(past);
    const first = words.join(" ").trim();
    if (past.length === 0 && first === "") transcript.say(thingsToTry(style));
    if (isChosenHere) await sitting.attempt(() => desk.resume());
    // What was given for this start is given: another context, and what comes later, is asked about anew.
    sitting.flags = { ...sitting.flags, trust: false };
    await sitting.attempt(() => asksTrust(sitting));
    if (first !== "") {
      terminal.prompt.remember([first]);
      await sitting.attempt(() => submit(first, false));
    }
  }

  let begun: Promise<void> = Promise.resolve();
  try {
    begun = begin();
    return await Promise.race([left.promise, begun.then(() => left.promise)]);
  } catch (error) {
    await sleep(SETTLE_MS); // what the terminal answers to the first questions is not typed at the shell
    throw error;
  } finally {
    over.abort();
    runs?.abort();
    process.removeListener("SIGTERM", onSignal).removeListener("SIGHUP", onSignal);
    const { conversation } = sitting;
    const run = conversation?.run;
    const wasWorking = run?.taken.agent.hasWork() ?? false;
    const closing = conversation?.close().catch((error) => transcript.say([errorText(error)]));
    const isClosed = (await watch.outlasts(Promise.resolve(closing))) && (await watch.outlasts(begun, OPENING_MS));
    const since = watch.silentSince();
    terminal.close();
    if (!isClosed && since !== undefined)
      process.stderr.write(`holdfast: ${silentText(since)}: left without waiting for it\n`);
    for (const words of unrecorded) process.stderr.write(`Not known to be recorded: ${printable(words)}\n`);
    if (conversation && run) {
      const context = { id: run.context, root: contextRoot(run.taken.agent.turn) };
      const again = desk.resumeLine(context);
      process.stderr.write(wasWorking ? `Take it up again with: ${again}\n` : `Go on with it: ${again}\n`);
      for (const line of leftBehind(run, conversation.harness, { flags, context, stayed: false }))
        process.stderr.write(`${line}\n`);
    }
    await watch.outlasts(state.store.close());
    watch.stop();
  }
}
