// `holdfast approve [ls | show ID | ID [allow|remember|rule|deny]]` and `holdfast deny ID`: answering, from any terminal, what an agent waits for.

import { listContexts } from "../../contexts/listing.ts";
import { ownFolders } from "../../contexts/project/links.ts";
import { answeredAlready, answerRequest, notAskedAnyMore } from "../../front/actions/approvals.ts";
import { type ApprovalScope, answerBy, choicesFor, describeRequest } from "../../front/presentation/approval.ts";
import { commandLine, resumeLine } from "../../front/presentation/command-line.ts";
import { escaped, oneLine } from "../../front/presentation/printable.ts";
import { styleFor } from "../../front/presentation/style.ts";
import { callTitle } from "../../front/presentation/titles.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger, sliceOf } from "../../ledger/ledger.ts";
import { own } from "../../ledger/own.ts";
import { contextState } from "../../loop/agent.ts";
import type { ApprovalAnswer, ApprovalRequest, ApprovalsState } from "../../mechanisms/approvals/events.ts";
import { listedRequests } from "../../mechanisms/approvals/index.ts";
import { previewChange } from "../../mechanisms/files/change-preview.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { idsMeant, isTooShort } from "../ids.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import { type OpenState, withState } from "../open.ts";

interface Where extends Pick<OpenState, "store" | "jobsDir"> {
  root: string;
}

interface Found {
  context: string;
  ledger: Ledger;
  request: ApprovalRequest;
}

type Look = PlaceFlags & JsonToo;
type Answer = Look & { remember: boolean; reason?: string };

export const ls = (flags: Look): Promise<number> =>
  withState(flags, async (state) => list(await allListed(whereOf(state)), flags, state));

export const show = (flags: Look, id: string): Promise<number> =>
  withState(flags, async (state) => {
    const found = await chosen(state, id, flags);
    if (found.request.movedTo !== undefined) throw new HoldfastError("invalid", sayMoved(found, flags));
    return list([found], flags, state);
  });

/** `word`: what was typed after the request. */
export const answer = (flags: Answer, id: string, word = flags.remember ? "remember" : "allow"): Promise<number> =>
  withState(flags, async (state) => {
    const found = await chosen(state, id, flags);
    if (found.request.movedTo !== undefined) throw new HoldfastError("invalid", sayMoved(found, flags));
    const answer = answerOf(word, found.request, flags);
    const { decision } = answer;
    const { requestId } = found.request;
    const done = await answerRequest(found.ledger, requestId, answer);
    if (done.kind === "moved") throw new HoldfastError("invalid", sayMoved({ ...found, request: done.request }, flags));
    if (done.kind === "already") throw answeredAlready(requestId, done.answer);
    if (done.kind === "over") throw notAskedAnyMore(requestId, seeList(flags));
    if (flags.json) process.stdout.write(`${JSON.stringify({ ...found.request, context: found.context, decision })}\n`);
    else
      process.stdout.write(
        `${decision === "allow" ? "Allowed" : "Denied"}: ${summary(found.request)}${scopeOf(answer)}\n`,
      );
    return 0;
  });

const whereOf = ({ store, project: { root }, jobsDir }: OpenState): Where => ({ store, root, jobsDir });

const USE = "holdfast approve ID allow | remember | rule | deny [--reason TEXT]";

function answerOf(word: string, request: ApprovalRequest, flags: Answer): ApprovalAnswer {
  const { reason } = flags;
  const from = "another terminal";
  const scope = own(SCOPES, word);
  if (!scope) throw new HoldfastError("invalid", `"${oneLine(word, 40)}" is no answer: ${USE}`);
  const choice = choicesFor(request).find((one) => one.scope === scope);
  if (!choice && (scope === "rule" || request.firm))
    throw new HoldfastError(
      "invalid",
      `${request.requestId} can only be allowed this once: ${commandLine(["approve", request.requestId, "allow"], flags)}`,
    );
  // The very same edit again is not offered beside the rule for all edits; whoever asks for it has it.
  return choice ? answerBy(choice, { from, reason }) : { decision: "allow", remember: true, from };
}

const SCOPES: Record<string, ApprovalScope> = { allow: "once", remember: "exactly", rule: "rule", deny: "no" };
const WORDS: Record<ApprovalScope, string> = { once: "allow", exactly: "remember", rule: "rule", no: "deny" };

function scopeOf({ remember, keeps }: ApprovalAnswer): string {
  if (keeps) return `; in this context from now on: ${escaped(keeps.rule)}`;
  return remember ? "; in this context again, exactly this" : "";
}

export async function allListed({ store, root, jobsDir }: Where): Promise<Found[]> {
  const reading = await ledgerReaders({ root, jobsDir });
  const found: Found[] = [];
  for (const { id: context, status } of await listContexts(store)) {
    if (status === "completed") continue;
    const ledger = await openLedger({ store, name: context, ...reading });
    const state = sliceOf<ApprovalsState>(ledger, "approvals");
    for (const request of listedRequests(state)) found.push({ context, ledger, request });
  }
  return found;
}

/** Contract: a part of an id has to be long enough, and to tell it from every other that was ever asked here. */
async function chosen(state: OpenState, id: string, flags: PlaceFlags): Promise<Found> {
  const waiting = await allListed(whereOf(state));
  const whole = waiting.find((f) => f.request.requestId === id);
  if (whole) return whole;
  const { knownRequests } = await import("./known-requests.ts");
  const meant = idsMeant(await knownRequests(state.store), id, REQUEST);
  const [one, ...others] = meant;
  const found = one && others.length === 0 && waiting.find((f) => f.request.requestId === one.requestId);
  if (found) return found;
  const see = seeList(flags);
  if (meant.length > 1)
    throw notFound(`${meant.length} requests are meant by ${shown(id)}: give more of the id; ${see}`);
  if (one?.answer) throw answeredAlready(one.requestId, one.answer);
  if (one) throw notAskedAnyMore(one.requestId, see);
  if (isTooShort(id, REQUEST.prefix))
    throw notFound(`${shown(id)} is too short for a part of an id: four characters or more after apr_; ${see}`);
  const { inOthers, placeHint } = await import("../elsewhere.ts");
  const folder = await inOthers(flags, async (store, at) =>
    idsMeant(await knownRequests(store), id, REQUEST).length > 0 ? at : undefined,
  );
  throw notFound(
    folder
      ? `${shown(id)} is asked in another project; ${placeHint(folder)}`
      : `there is no request ${shown(id)}: ${see}`,
  );
}

const seeList = (flags: PlaceFlags): string => `see \`${commandLine(["approve", "ls"], flags)}\``;

const REQUEST = { prefix: "apr_", idOf: ({ requestId }: { requestId: string }) => requestId };
const notFound = (why: string) => new HoldfastError("not_found", why);
const shown = (id: string): string => oneLine(id, 40) || '""';

/** What was shown named the old folder: an answer to it would have to hold for another. */
function sayMoved({ context, ledger, request }: Found, flags: PlaceFlags): string {
  const { requestId, cwd, movedTo = "" } = request;
  const again = resumeLine({ id: context, root: contextState(ledger).root }, flags);
  return `${requestId} is void: it was asked in ${escaped(cwd)}, and the project's folder has moved to ${escaped(movedTo)} since. It is asked anew when its context goes on: ${again}`;
}

async function list(all: Found[], flags: Look, { store, project }: OpenState): Promise<number> {
  const isOwn = ownFolders(store, project);
  const open = all.filter(({ request }) => request.movedTo === undefined);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(open.map(({ context, request }) => ({ context, ...request })))}\n`);
    return 0;
  }
  if (open.length === 0) process.stderr.write("Nothing waits for approval.\n");
  for (const { context, request } of open) {
    const { requestId: id, agent } = request;
    const change = await previewChange(request, isOwn);
    const style = styleFor(process.stdout, process.env);
    const answers = choicesFor(request).map(({ scope, says }) => {
      const reason = scope === "no" ? ' [--reason "why"]' : "";
      return `  ${commandLine(["approve", id, WORDS[scope]], flags)}${reason}   ${style.dim(says)}`;
    });
    process.stdout.write(
      `${[`${id}  ${context}  ${escaped(agent)} asks`, ...describeRequest({ request, change, style }), ...answers].join("\n")}\n\n`,
    );
  }
  for (const one of all) if (one.request.movedTo !== undefined) process.stderr.write(`${sayMoved(one, flags)}\n`);
  return 0;
}

const summary = ({ tool, input }: ApprovalRequest): string => oneLine(`${tool} ${callTitle(tool, input)}`, 100);
