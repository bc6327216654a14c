// `holdfast -p`: one turn until the agent stops, or one for each line of stream-json input; then exit.

import type { PermissionMode } from "../claude-code/permission-modes.ts";
import type { ContextInfo } from "../contexts/listing.ts";
import type { SeenFile } from "../file-access/seen-files.ts";
import { adviceLines } from "../front/presentation/closing.ts";
import { requestLine } from "../front/presentation/command-line.ts";
import { oneLine, printable } from "../front/presentation/printable.ts";
import { type Refusals, type Refused, watchRefusals } from "../front/presentation/refusals.ts";
import type { AnswerSchema } from "../front/sdk-protocol/answer-schema.ts";
import type { ControlRequest } from "../front/sdk-protocol/control-request.ts";
import { linesOf } from "../front/sdk-protocol/lines-of.ts";
import { inputLine } from "../front/sdk-protocol/user-message.ts";
import { createScreen, isLiveTerminal, type Screen } from "../front/text/screen.ts";
import { createTextOutput, type Output } from "../front/text/text-output.ts";
import type { Harness, Run } from "../harness.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { Store } from "../ledger/store.ts";
import { contextRoot } from "../loop/transcript.ts";
import { conditionIn, isMissed, isOverGoal, missedText } from "../mechanisms/goal/port.ts";
import type { PermissionOptions } from "../mechanisms/permissions/index.ts";
import { createSkillCatalogue } from "../mechanisms/skills/catalogue.ts";
import { hasMadeWorktrees } from "../mechanisms/worktrees/index.ts";
import type { Content } from "../models/model.ts";
import { driveRun, type RunResult } from "../run-result.ts";
import type { Values } from "./flag.ts";
import type { RUN } from "./flags.ts";
import { howToGoOn, insteadOfWaiting, nothingLeft, sayHeld, takenOver, WAIT_MS, waitText } from "./going-on.ts";
import { leftBehind } from "./left-behind.ts";
import type { McpFlags } from "./mcp-servers.ts";
import { offeredTools } from "./offered-tools.ts";
import { chosenContext, isIn, type OpenState, openState, stateAt } from "./open.ts";
import { openHarness } from "./open-harness.ts";
import { contentOf, readPrompt, typedWords } from "./prompt.ts";
import { beginContext, checkSession, forked, type SessionFlags } from "./session.ts";
import type { OpenSettings } from "./settings.ts";
import { interruptOnSignals } from "./signals.ts";
import { skillPlaces } from "./skill-places.ts";
import { begunWith, type Started, startOf } from "./start.ts";

const EXIT: Record<RunResult["reason"], number> = { done: 0, failed: 1, limit: 3, blocked: 4, interrupted: 130 };

/** `resume`: "" is the newest that can be resumed. */
type Flags = Values<typeof RUN> & { continue: boolean; resume?: string | undefined } & SessionFlags & {
    includePartialMessages?: boolean;
    replayUserMessages?: boolean;
    jsonSchema?: string | undefined;
    tools?: string | undefined;
    name?: string | undefined;
    goal?: string | undefined;
  } & McpFlags;

const REFUSED = EXIT.blocked;

export async function headless(flags: Flags, words: string[]): Promise<number> {
  const resuming = flags.continue || flags.resume !== undefined;
  checkSession(flags);
  checkFormat(flags);
  const goal = flags.goal === undefined ? undefined : conditionIn(flags.goal);
  const schema = flags.jsonSchema === undefined ? undefined : await answerSchema(flags.jsonSchema);
  const opened = await openState(flags);
  const { store } = opened;
  try {
    const chosen = await chosenContext(opened, flags); // a wrong id is said before anything is waited for
    const said = flags.inputFormat === "text" ? await readPrompt(words, { resuming, goal }) : typedWords(words);
    const given = said ?? (goal === undefined ? undefined : { words: goal });
    const context = chosen && flags.forkSession ? await forked(opened, chosen) : chosen;
    const state = stateAt(opened, flags, context);
    if (context && given === undefined && flags.inputFormat === "text" && (await hasWorkflow(store, context.id))) {
      const { resumeWorkflow } = await import("./commands/workflow.ts");
      const code = await resumeWorkflow(flags, state, context);
      if (code !== undefined) return code;
    }
    const started = await startOf(flags, state, context);
    const screen = createScreen({ isLive: isLiveTerminal(flags.outputFormat) });
    const tools = offeredTools(flags.tools);
    const mechanisms = [...(schema ? [schema.mechanism] : []), ...(tools ? [tools.mechanism] : [])];
    const opening = { screen, mechanisms };
    const { harness, model, settings, modelSpec, asksHere, servers } = await openHarness(
      started.flags,
      state,
      opening,
    ).catch((error) => begunWith(error, context, flags));
    const mode = settings.permissions.policy?.mode ?? "default";
    const unknown = tools?.unknown.length ? [`--tools: there is no ${tools.unknown.join(", ")} here`] : [];
    for (const line of [...settings.says, ...unknown]) process.stderr.write(`holdfast: ${printable(line)}\n`);
    const elsewhere =
      context && !flags.quiet && !isIn(opened.project, context) ? [`${context.id} goes on in ${context.root}`] : [];
    const prompt = given && (await contentOf(given, { settings, root: state.project.root, cwd: flags.cwd, servers }));
    const output =
      flags.outputFormat === "text"
        ? createTextOutput({
            quiet: flags.quiet,
            screen,
            asksHere,
            toSee: (id) => requestLine(id, flags, state.project.root),
          })
        : (await import("../front/sdk-protocol/stream-json.ts")).createJsonOutput({
            stream: flags.outputFormat === "stream-json",
            quiet: flags.quiet,
            partial: flags.includePartialMessages ?? false,
            answer: schema?.read,
          });
    try {
      return await work({
        flags,
        harness,
        servers,
        output,
        screen,
        prompt,
        isPiped: given?.isPiped ?? false,
        goal,
        title: flags.name ?? given?.words ?? "",
        context,
        modelId: model.id,
        mode,
        permissions: settings.permissions,
        trusted: settings.trusted,
        settings,
        state,
        answer: schema?.read,
        says: [...elsewhere, ...started.says(mode)],
        record: started.record({ settings, ...(modelSpec && { modelSpec }) }),
      });
    } finally {
      screen.close();
      await harness.close();
    }
  } finally {
    await store.close();
  }
}

/** Loaded only when somebody wants it. */
const answerSchema = async (given: string): Promise<AnswerSchema> =>
  (await import("../front/sdk-protocol/answer-schema.ts")).openAnswerSchema(given);

function checkFormat({ outputFormat, includePartialMessages, replayUserMessages }: Flags): void {
  if (outputFormat === "stream-json" || !(includePartialMessages || replayUserMessages)) return;
  const flag = includePartialMessages ? "--include-partial-messages" : "--replay-user-messages";
  throw new HoldfastError("invalid", `${flag} needs --output-format stream-json`);
}

/** Whether a workflow was ever begun in it; older Holdfasts recorded that under a shared key. */
const hasWorkflow = async (store: Store, context: string): Promise<boolean> =>
  (await store.version(context, "record:workflow")) > 0 || (await store.version(context, "key:workflow")) > 0;

interface Work {
  flags: Flags;
  harness: Harness;
  servers: string[];
  output: Output;
  screen: Screen;
  prompt: { content: Content[]; seen: SeenFile[] } | undefined;
  isPiped: boolean;
  /** What the turn goes on for. */
  goal: string | undefined;
  /** The words that were typed. */
  title: string;
  context: ContextInfo | undefined;
  modelId: string;
  mode: PermissionMode;
  permissions: PermissionOptions;
  /** What the repository brings is used. */
  trusted: boolean;
  state: OpenState;
  /** What the answer has to fit. */
  answer: AnswerSchema["read"] | undefined;
  /** About the context that is gone on with: said once it is held. */
  says: string[];
  settings: OpenSettings;
  /** How it was started, where the ledger does not know that yet. */
  record: ReturnType<Started["record"]>;
}

async function work(work: Work): Promise<number> {
  const signals = interruptOnSignals((line) => work.screen.print(["", line]));
  try {
    return await workOn(work, signals);
  } finally {
    signals.leave();
  }
}

async function workOn(work: Work, signals: ReturnType<typeof interruptOnSignals>): Promise<number> {
  const { flags, harness, output, screen, prompt, modelId, mode, state, record } = work;
  if (flags.agent !== undefined && work.context)
    throw new HoldfastError("invalid", "the type of a lead is chosen when its context begins: leave --agent out");
  const saysAll = flags.outputFormat === "stream-json";
  const agents = saysAll ? (await harness.agents.list()).map(({ name }) => name) : [];
  const skills = saysAll ? await createSkillCatalogue(skillPlaces(state.project.root, work)).list() : [];
  const context = work.context?.id ?? (await beginContext(work));
  const refusals = watchRefusals();
  let recording: Promise<unknown> = Promise.resolve();
  const opening = harness.run(prompt?.content, {
    context,
    ...(prompt && { seen: prompt.seen, goal: work.goal, isPiped: work.isPiped }),
    wait: AbortSignal.timeout(WAIT_MS),
    onWait(by) {
      if (!work.context) return;
      const line = waitText(by, { id: context, ends: insteadOfWaiting(work.context, flags) });
      process.stderr.write(`holdfast: ${printable(line)}\n`);
    },
    takeOverInteractive: flags.continue || Boolean(flags.resume),
    onEvent: (event) => {
      refusals.event(event);
      output.event(event);
    },
    onOpen: (id, turn) => {
      for (const line of work.says) process.stderr.write(`holdfast: ${printable(line)}\n`);
      // Held, and before anything happens in it: whoever comes after a kill goes on with what was typed here.
      if (work.context && record)
        recording = state.store.append([{ ledger: id, events: [harness.host.codec.encode(record(id))] }]);
      recording.catch(() => undefined); // awaited below
      output.init({
        context: id,
        model: modelId,
        cwd: turn.cwd,
        tools: harness.toolNames(turn),
        agents,
        skills: skills.filter(({ onlyByPerson }) => !onlyByPerson).map(({ name }) => name),
        slashCommands: ["compact", "goal", ...skills.filter(({ onlyByModel }) => !onlyByModel).map(({ name }) => name)],
        servers: work.servers,
        lead: turn,
        permissionMode: mode,
        slice: turn.slice,
      });
    },
  });
  const run = await opening.catch((error) => sayHeld(error, work));
  signals.of(run);
  for (const line of takenOver(run, state.store)) process.stderr.write(`holdfast: ${line}\n`);
  try {
    await recording;
  } catch (error) {
    run.interrupt();
    await run.result.catch(() => undefined);
    throw error;
  }
  const first = await run.result;
  const results = flags.inputFormat === "text" || prompt !== undefined || first.rounds > 0 ? [first] : [];
  if (prompt === undefined && first.rounds === 0 && first.reason === "done" && results.length > 0) {
    screen.print([nothingLeft(run, flags)]);
  }
  for (const result of results) output.result(result);
  let interrupted = false;
  if (flags.stay) {
    const { stay } = await import("./stay.ts");
    const stayed = await stay({ harness, run, output });
    results.push(...stayed.results);
    interrupted = stayed.interrupted;
  }
  if (flags.inputFormat === "stream-json") results.push(...(await converse(run, work)));
  // One of several messages that comes to nothing is said in its own result.
  const isOver = flags.inputFormat === "text" && results.at(-1)?.reason === "done" && !interrupted;
  const goal = results.at(-1)?.goal;
  const refused = isOver && !isOverGoal(goal) ? refusals.cameToNothing() : undefined;
  const advice = await adviceOn(refusals, run, work);
  const isSaid = output.end?.({ changedNothing: refused !== undefined, advice }) ?? false;
  screen.close();
  const code = farewell(results.at(-1), run, { harness, flags, interrupted });
  if (refused && !isSaid)
    process.stderr.write(`${nothingBy({ ...refused, flags: advice.get(refused.callId) ?? refused.flags })}\n`);
  if (work.settings.settings.memory.extract && results.some(({ rounds }) => rounds > 0)) {
    const { extractAfter } = await import("./commands/memory-reading.ts");
    await extractAfter(flags, { ...work, id: run.context });
  }
  if (flags.stay && hasMadeWorktrees(run.taken.agent.turn)) {
    const { worktreesLeft } = await import("./worktrees-left.ts");
    for (const line of await worktreesLeft(state, flags)) process.stderr.write(`${line}\n`);
  }
  if (refused) return REFUSED;
  if (code === 0 && isMissed(goal)) return EXIT.failed;
  const answer = code === 0 ? work.answer?.(results.at(-1)?.text ?? "") : undefined;
  if (!answer || answer.fits) return code;
  process.stderr.write(`${answer.says}\n`);
  return EXIT.failed;
}

/** Each line of stdin is a user message; one that comes while a turn runs steers it. Finished jobs wake the idle agent. */
async function converse(run: Run, { output, harness, modelId, flags }: Work): Promise<RunResult[]> {
  const { agent } = run.taken;
  const say = (line: string) => process.stderr.write(`holdfast: ${printable(line)}\n`);
  const control = async (request: ControlRequest) => {
    const { answerControl } = await import("../front/sdk-protocol/control-request.ts");
    const interrupt = () => agent.hasWork() && run.interrupt();
    const asked = { model: modelId, agents: () => harness.agents.list(), interrupt, say };
    output.control?.(await answerControl(request, asked));
  };
  const results: RunResult[] = [];
  const idle = new AbortController();
  let open = true;
  let arrived: () => void = () => undefined;
  const reading = (async () => {
    try {
      let number = 0;
      for await (const line of linesOf(process.stdin)) {
        number++;
        if (line.trim() === "") continue;
        const read = inputLine(line, number);
        if ("control" in read) await control(read.control);
        else if ("passedOver" in read) read.passedOver.forEach(say);
        if (!("user" in read)) continue;
        const { content, says, ...said } = read.user;
        says.forEach(say);
        await agent.send(content);
        if (flags.replayUserMessages) output.accepted?.(said);
        arrived();
      }
    } finally {
      open = false;
      arrived();
    }
  })();
  reading.catch(() => undefined);
  await driveRun(run, {
    onResult(result) {
      results.push(result);
      output.result(result);
    },
    goesOn: () => open || agent.hasWork(),
    async wait() {
      if (!open) return false;
      const more = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      await Promise.race([more, agent.untilWoken(idle.signal)]);
      return true;
    },
  });
  idle.abort();
  await reading;
  return results;
}

/** By the id of the call. */
async function adviceOn(refusals: Refusals, run: Run, { state, permissions }: Work): Promise<Map<string, string[]>> {
  const advice = new Map<string, string[]>();
  for (const { callId, ...call } of refusals.unadvised()) {
    const { flagsFor } = await import("../front/presentation/refusal-advice.ts");
    const { cwd } = run.taken.agent.turn;
    advice.set(callId, await flagsFor({ ...call, cwd }, permissions, state.project.root));
  }
  return advice;
}

const nothingBy = (refused: Refused): string =>
  [`Nothing was changed: ${oneLine(`${refused.tool}: ${refused.why}`, 300)}`, ...adviceLines([refused])].join(". ");

/** `interrupted`: it stayed, and was told to end before everyone had. */
function farewell(
  result: RunResult | undefined,
  run: Run,
  { harness, flags, interrupted }: { harness: Harness; flags: Flags; interrupted: boolean },
): number {
  if (!result) return 0;
  const context = { id: run.context, root: contextRoot(run.taken.agent.turn) };
  const reason = result.reason === "done" && interrupted ? "interrupted" : result.reason;
  if (reason !== "done") {
    const why = result.error ?? reason;
    process.stderr.write(`${why.replace(/\s+/g, " ")}\n${howToGoOn(result, run, { flags, context })}\n`);
  }
  if (reason === "done" && result.rounds > 0 && result.text.trim() === "")
    process.stderr.write("The answer is empty: the model said nothing, and called nothing.\n");
  const isSaid = flags.outputFormat === "text" && !flags.quiet; // on the way
  if (reason === "done" && isMissed(result.goal) && !isSaid) process.stderr.write(`${missedText(result.goal)}\n`);
  const stayed = flags.stay && !interrupted;
  for (const line of leftBehind(run, harness, { flags, context, stayed })) process.stderr.write(`${line}\n`);
  return EXIT[reason];
}
