// What slash commands and keys work on: the conversation that is open, lists to choose from, Holdfast's own commands.
import { PERMISSION_MODES, type PermissionMode } from "../../claude-code/permission-modes.ts";
import { type ContextInfo, listContexts } from "../../contexts/listing.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { money, tokens } from "../../front/presentation/format.ts";
import { age, oneLine } from "../../front/presentation/printable.ts";
import { createChoiceList, type ListChoice } from "../../front/terminal/choice-list.ts";
import { createPager } from "../../front/terminal/pager.ts";
import { tableRows } from "../../front/terminal/rows.ts";
import { createTeamView } from "../../front/terminal/team-view.ts";
import type { Run } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { isRecord } from "../../ledger/guards.ts";
import { contextRoot } from "../../loop/transcript.ts";
import { stateOf as viewStateOf } from "../../mechanisms/compaction/events.ts";
import { costUsd } from "../../models/catalogue.ts";
import type { Model } from "../../models/model.ts";
import { modelSpec } from "../../models/model-spec.ts";
import type { RunResult } from "../../run-result.ts";
import { createTeamSource } from "../team-source.ts";
import { type CommandDesk, SLASH_COMMANDS } from "./commands.ts";
import { namedSkills } from "./completions.ts";
import type { Sitting } from "./interactive.ts";
import { runOwnCommand } from "./own-command.ts";
import { promptAfter, wholePast } from "./past.ts";

export interface Desk extends CommandDesk {
  nextMode(): Promise<void>;
  skillNames(): Promise<string[]>;
  commandNames(): string[];
  /** How to come back to it. */
  resumeLine(context: { id: string; root: string }): string;
}

interface DeskOptions {
  last: () => RunResult | undefined;
  leave: () => void;
  send: (text: string) => Promise<void>;
}

const LOOK_MS = 3_000;

/** With Shift-Tab, in turn; the others are chosen by name. */
const TURNS: readonly PermissionMode[] = ["default", "acceptEdits", "plan"];

const MODE_HELP: Record<PermissionMode, string> = {
  default: "reading is allowed, the rest asks",
  acceptEdits: "edits inside the project are allowed too",
  plan: "nothing is changed",
  auto: "what runs inside the sandbox is allowed",
  dontAsk: "what would ask is refused",
  bypassPermissions: "everything is allowed, but for what is protected",
  bypass: "",
};

/** How full it is, by what the provider counted. */
function windowLine(run: Run, { limits }: Model): string {
  const { used } = viewStateOf(run.taken.agent.turn);
  if (used === undefined) return "nothing was counted yet";
  return `${tokens(used)} of ${tokens(limits.contextTokens)} tokens in the window (${Math.round((100 * used) / limits.contextTokens)} %)`;
}

export function createDesk(sitting: Sitting, { last, leave, send }: DeskOptions): Desk {
  const { terminal, state } = sitting;
  const { transcript, style, app, changed, prompt } = terminal;
  const root = () => sitting.conversation?.state.project.root ?? state.project.root;
  const say = (lines: readonly string[]) => transcript.say(lines);
  const columns = () => terminal.size().columns;
  const table = (lines: readonly string[]) => say(tableRows(lines, columns()));
  const given = (words: readonly string[]) => ({ words, flags: sitting.flags, root: root(), columns: columns() });
  const own = async (words: readonly string[]) => runOwnCommand(given(words), (line) => table([line]));
  const quietly = async (words: readonly string[]) => runOwnCommand(given(words));

  /** Undefined: nothing was chosen. */
  function choose<T>(title: string, items: readonly (ListChoice & { value: T })[]): Promise<T | undefined> {
    return new Promise((resolve) => {
      const close = app.open(
        createChoiceList({
          title,
          items,
          style,
          changed,
          onChoose(item) {
            close();
            resolve(items.find((one) => one === item)?.value);
          },
        }),
      );
    });
  }

  function contextId(): string | undefined {
    const id = sitting.conversation?.run?.context;
    if (id === undefined) say(["there is no context yet: it begins with your first words"]);
    return id;
  }

  async function json(words: readonly string[]): Promise<unknown> {
    const end = await quietly([...words, "--json"]);
    if (end.code !== 0) throw new HoldfastError("invalid", end.said.join(" ").replace(/^holdfast: /, ""));
    return JSON.parse(end.out.join("\n"));
  }

  async function rewind(): Promise<void> {
    const id = contextId();
    if (id === undefined || sitting.isBusy()) return;
    const all = await json(["contexts", "checkpoints", id]);
    const points = (Array.isArray(all) ? all : []).filter(isRecord).toReversed();
    const point = await choose(
      "Go back to before …",
      points.map(({ name, note, at, seq, auto }) => ({
        label: String(name),
        detail: `${typeof at === "number" ? `${age(at)} ago ` : ""}${oneLine(String(note ?? ""), 80)}`,
        value: { name: String(name), ...(auto === true && typeof seq === "number" && { promptBehind: seq }) },
      })),
    );
    if (point === undefined) return;
    const { name, promptBehind } = point;
    const only = await choose<string>(`Back to before ${name}: what goes back?`, [
      { label: "conversation and files", value: "" },
      { label: "conversation", detail: "the files stay as they are", value: "conversation" },
      { label: "files", detail: "the conversation stays as it is", value: "files" },
    ]);
    if (only === undefined) return;
    const words =
      promptBehind === undefined || only === "files" ? undefined : await promptAfter(state, id, promptBehind);
    const restore = async () => {
      const { code } = await own(["contexts", "restore", id, name, ...(only === "" ? [] : ["--only", only])]);
      // To be said again, otherwise; but not over what was typed meanwhile.
      if (code === 0 && words !== undefined && prompt.isEmpty) prompt.set(words);
    };
    // It cannot be restored while it is held: it is let go for that, and taken again.
    await sitting.change({ context: await infoOf(id), between: restore });
  }

  const infoOf = async (id: string): Promise<ContextInfo | undefined> =>
    (await listContexts(state.store)).find((one) => one.id === id);

  async function resume(): Promise<void> {
    if (sitting.isBusy()) return;
    const all = (await listContexts(state.store)).filter(({ aside }) => !aside);
    const here = sitting.conversation?.contextId;
    const chosen = await choose(
      "Go on with …",
      all.slice(0, 500).map((one) => ({
        label: oneLine(one.title, 70) || one.id,
        detail: [...(one.id === here ? ["this one"] : []), `${age(one.updatedAt)} ago`, one.status, one.id].join(" · "),
        preview: async () => (await quietly(["contexts", "show", one.id])).out.slice(-12),
        value: one,
      })),
    );
    if (!chosen) return;
    // What was allowed here was allowed here: the other one goes on as it was started.
    await sitting.change({
      context: chosen,
      flags: { permissionMode: undefined, allow: [], addDirs: [], model: undefined },
    });
  }

  async function fork(checkpoint: string | undefined): Promise<void> {
    const id = contextId();
    if (id === undefined || sitting.isBusy()) return;
    const made = await json(["contexts", "fork", id, ...(checkpoint === undefined ? [] : [checkpoint])]);
    const copy = isRecord(made) && typeof made.id === "string" ? await infoOf(made.id) : undefined;
    if (!copy) return;
    say([`${copy.id} goes on from here; ${id} stays as it is`]);
    await sitting.change({ context: copy });
  }

  async function transcriptPager(): Promise<void> {
    const id = contextId();
    if (id === undefined) return;
    const lines = await wholePast(state, id, terminal);
    const close = app.open(
      createPager({
        title: id,
        lines: { length: lines.length, line: (i) => lines[i] ?? "" },
        style,
        from: "end",
        changed,
        left: () => close(),
      }),
    );
  }

  async function team(): Promise<void> {
    const { conversation } = sitting;
    const id = contextId();
    if (id === undefined || !conversation) return;
    const source = createTeamSource({ state: conversation.state, context: id });
    const view = createTeamView({ source, style, changed, now: () => Date.now(), left: () => close() });
    const unsubscribe = conversation.run?.taken.ledger.subscribe(() => void view.refresh());
    void view.refresh();
    // Nobody tells when a file in a worktree changes.
    const looking = setInterval(() => void view.refresh(), LOOK_MS);
    looking.unref();
    const gone = app.open(view);
    const close = () => {
      clearInterval(looking);
      unsubscribe?.();
      gone();
    };
  }

  const reopen = async (to: { model?: string; permissionMode?: string }): Promise<void> => {
    const mode = PERMISSION_MODES.find((one) => one === to.permissionMode);
    if (to.permissionMode !== undefined && !mode)
      throw new HoldfastError("invalid", `there is no mode ${to.permissionMode}: ${PERMISSION_MODES.join(", ")}`);
    const model = to.model === undefined ? {} : { model: modelSpec(to.model) };
    const flags = { ...model, ...(mode && { permissionMode: mode }) };
    if (sitting.changeLater(flags)) {
      app.notice(`${mode ? `mode ${mode}` : model.model}: when this turn is over`);
      return;
    }
    await sitting.change({ flags });
    const now = sitting.conversation;
    if (now) app.notice(`${now.model.id}, mode ${now.mode}`);
  };

  return {
    say,
    table,
    contextId,
    own,
    send: (text) => send(text),
    reopen,
    rewind,
    fork,
    resume,
    team,
    transcript: transcriptPager,
    leave,
    async clear() {
      if (sitting.isBusy()) return;
      const id = sitting.conversation?.run?.context;
      await sitting.change({ context: undefined });
      say([style.dim(id === undefined ? "· a new context" : `· a new context; /resume goes back to ${id}`)]);
    },
    cost() {
      const result = last();
      if (!result) return ["nothing yet"];
      return [
        ...Object.entries(result.usageByModel).map(([model, usage]) => {
          const { input, output, cacheRead, cacheWrite } = usage;
          return `${model}: ${tokens(input + cacheRead + cacheWrite)} in (${tokens(cacheRead)} from cache), ${tokens(output)} out · ${money(costUsd(model, usage))}`;
        }),
        `all: ${money(result.costUsd)}`,
      ];
    },
    about() {
      const { conversation } = sitting;
      const run = conversation?.run;
      if (!conversation) return ["it is still being opened"];
      const { model, mode, settings } = conversation;
      return [
        `model ${model.id} (window ${tokens(model.limits.contextTokens)} tokens${model.limits.isAssumed ? ", assumed" : ""})`,
        `mode ${mode}; ${settings.sandbox ? "commands run inside the sandbox" : "no sandbox"}`,
        ...(run ? [windowLine(run, model)] : []),
        ...(run ? [`context ${run.context} in ${contextRoot(run.taken.agent.turn)}`] : ["no context yet"]),
      ];
    },
    async chooseModel() {
      const { bareNames } = await import("../../models/catalogue.ts");
      const model = await choose(
        "Which model? (others by name: /model PROVIDER/NAME)",
        [...new Set([...bareNames(), "rehearsal"])].map((label) => ({ label, value: label })),
      );
      if (model !== undefined) await reopen({ model });
    },
    async chooseMode() {
      const modes = PERMISSION_MODES.filter((mode) => mode !== "bypass");
      const isNow = (mode: PermissionMode) => mode === sitting.conversation?.mode;
      const mode = await choose(
        "What is allowed unasked?",
        modes.map((one) => ({ label: one, detail: `${MODE_HELP[one]}${isNow(one) ? " (now)" : ""}`, value: one })),
      );
      if (mode !== undefined) await reopen({ permissionMode: mode });
    },
    async nextMode() {
      const at = TURNS.indexOf(sitting.conversation?.mode ?? "default");
      await reopen({ permissionMode: TURNS[(at + 1) % TURNS.length]! });
    },
    skillNames: async () => (await namedSkills(sitting.conversation)).map(({ name }) => name),
    commandNames: () => SLASH_COMMANDS.map(({ name }) => name),
    resumeLine: ({ id, root }) => commandLine(["-r", id], sitting.flags, root),
  };
}
