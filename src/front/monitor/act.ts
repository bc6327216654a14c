// What a person does from the page: answers, plans, messages, forks, restores. Each is what the command of that name does.
import type { RestoreReport } from "../../contexts/checkpoints.ts";
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import { isRecord } from "../../ledger/guards.ts";
import { type Ledger, sliceOf } from "../../ledger/ledger.ts";
import { own } from "../../ledger/own.ts";
import { contextState } from "../../loop/agent.ts";
import type { ApprovalsState } from "../../mechanisms/approvals/events.ts";
import { counted } from "../../text/counted.ts";
import { answeredAlready, answerRequest } from "../actions/approvals.ts";
import { reviewPlan, sendAsUser } from "../actions/team.ts";
import { answerBy, choicesFor } from "../presentation/approval.ts";
import { type Place, resumeLine } from "../presentation/command-line.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import type { Action, ActionAnswer } from "./api.ts";
import type { ContextSource } from "./context-source.ts";

/** `from` of an answer, for people. */
const FROM = "the monitor page";
const MOST_TEXT = 20_000;
const MOST_PATHS = 50;

interface ActedOn {
  source: ContextSource;
  ledger: Ledger;
  /** For the commands that an answer names. */
  place: Place;
}

/** Contract: refusals are answers: nothing was changed then. */
export async function act(on: ActedOn, given: unknown): Promise<ActionAnswer> {
  try {
    return await done(on, actionIn(given));
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    const { paths } = isRecord(error.detail) ? error.detail : {};
    if (!Array.isArray(paths)) return { ok: false, code: error.code, says: printable(error.message) };
    const says = `somebody else changed ${counted(paths.length, "file")} since: leave ${paths.length === 1 ? "it" : "them"} as now, or restore over what is there`;
    return {
      ...{ ok: false, code: error.code, says },
      paths: paths.slice(0, MOST_PATHS).map((one) => printable(String(one))),
    };
  }
}

async function done({ source, ledger, place }: ActedOn, action: Action): Promise<ActionAnswer> {
  switch (action.action) {
    case "approve":
      return approve(ledger, action);
    case "plan": {
      const { id: plan, approve: yes, feedback } = action;
      const { line } = await reviewPlan([ledger], { given: plan, approve: yes, feedback });
      return { ok: true, says: printable(line) };
    }
    case "send": {
      const { line } = await sendAsUser([ledger], { to: action.to, content: action.text });
      return { ok: true, says: printable(line) };
    }
    case "fork": {
      const forked = await (await source.context()).fork(action.seq);
      const { forkOf } = await forked.details();
      const how = forkOf?.goesOn ? "its turn goes on" : "it waits for a prompt";
      const line = resumeLine({ id: forked.id, root: contextState(ledger).root }, place);
      return {
        ...{ ok: true, says: `forked at event ${forkOf?.seq}; ${how}`, context: forked.id },
        command: forkOf?.goesOn ? line : `${line} "…"`,
      };
    }
    case "restore": {
      await source.index.advance();
      const { restore: to } = await source.past.at(action.seq);
      if (!to) throw new HoldfastError("not_found", `there is no checkpoint up to event ${action.seq}`);
      const { parts, force = false, keepChanged = false } = action;
      const context = await source.context();
      return { ok: true, says: restoredSays(await context.restore(to.seq, { ...parts, force, keepChanged })) };
    }
    case "undo": {
      const { force = false, keepChanged = false } = action;
      return { ok: true, says: `undone: ${restoredSays(await (await source.context()).undo({ force, keepChanged }))}` };
    }
  }
}

function restoredSays({ checkpoint, fileReport }: RestoreReport): string {
  const files = fileReport ? `; files: ${fileReport.written} written, ${fileReport.deleted} deleted` : "";
  return `back at ${oneLine(checkpoint, 60)}${files}`;
}

type Approve = Extract<Action, { action: "approve" }>;

async function approve(ledger: Ledger, { id, scope, reason: why }: Approve): Promise<ActionAnswer> {
  await ledger.catchUp();
  const request = own(sliceOf<ApprovalsState>(ledger, "approvals").requests, id);
  const choice = request && choicesFor(request).find((one) => one.scope === scope);
  if (request && !choice) throw new HoldfastError("invalid", `${id} can only be allowed this once, or refused`);
  const answer = choice && answerBy(choice, { from: FROM, reason: why });
  const outcome = answer ? await answerRequest(ledger, id, answer) : { kind: "over" as const };
  switch (outcome.kind) {
    case "counted":
      return { ok: true, says: scope === "no" ? "refused" : "allowed" };
    case "already":
      throw answeredAlready(id, outcome.answer);
    case "moved":
      throw new HoldfastError("refused", `${id} is void: the project's folder has moved since it was asked`);
    case "over":
      throw new HoldfastError("not_found", `${id} is not asked any more: its call is over`);
  }
}

const wrong = (what: string) => new HoldfastError("invalid", `not an action: ${what}`);
const SCOPES = new Set(["once", "exactly", "rule", "no"]);

/** Contract: of the types of `Action`, whatever was sent. */
function actionIn(given: unknown): Action {
  if (!isRecord(given)) throw wrong("an object is needed");
  const { action } = given;
  switch (action) {
    case "approve": {
      const scope = textIn(given, "scope");
      if (!SCOPES.has(scope)) throw wrong(`scope ${oneLine(scope, 20)}`);
      const reason = given.reason === undefined ? {} : { reason: textIn(given, "reason") };
      return { action, id: textIn(given, "id"), scope: scope as Approve["scope"], ...reason };
    }
    case "plan":
      return {
        ...{ action, id: textIn(given, "id"), approve: given.approve === true },
        feedback: given.feedback === undefined || given.feedback === "" ? "" : textIn(given, "feedback"),
      };
    case "send":
      return { action, to: textIn(given, "to"), text: textIn(given, "text") };
    case "fork":
      return { action, seq: seqIn(given) };
    case "restore": {
      const parts = isRecord(given.parts) ? given.parts : {};
      const { conversation, data, files } = parts;
      return {
        ...{ action, seq: seqIn(given) },
        parts: { conversation: conversation === true, data: data === true, files: files === true },
        ...{ force: given.force === true, keepChanged: given.keepChanged === true },
      };
    }
    case "undo":
      return { action, force: given.force === true, keepChanged: given.keepChanged === true };
    default:
      throw wrong(`there is no action "${oneLine(String(action), 30)}"`);
  }
}

function textIn(given: Record<string, unknown>, field: string): string {
  const value = given[field];
  if (typeof value !== "string" || value === "" || value.length > MOST_TEXT)
    throw wrong(`${field} is missing or too long`);
  return value;
}

function seqIn({ seq }: Record<string, unknown>): number {
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 1) throw wrong("seq is the number of an event");
  return seq;
}
