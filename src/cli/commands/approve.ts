// Owns `holdfast approve [ID]` and `holdfast deny ID`: answering, from any terminal, what an agent waits for.
import { listContexts } from "../../contexts/index.ts";
import { mechanismsOf } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import type { Store } from "../../ledger/store.ts";
import { contextState } from "../../loop/agent.ts";
import { readers } from "../../loop/host.ts";
import {
  type ApprovalRequest,
  type ApprovalsState,
  answerEvent,
  listedRequests,
} from "../../mechanisms/approvals/index.ts";
import type { Flags } from "../args.ts";
import { resumeLine } from "../command-line.ts";
import { openState } from "../open.ts";
import { escaped, oneLine } from "../printable.ts";

interface Found {
  context: string;
  ledger: Ledger;
  request: ApprovalRequest;
}

export async function approve(flags: Flags): Promise<number> {
  const [verb, id] = flags.words;
  const { store, project, jobsDir } = await openState(flags);
  try {
    const all = await allListed(store, { root: project.root, jobsDir });
    if (id === undefined) return list(all, flags);
    const found = chosen(all, id);
    if (found.request.movedTo !== undefined) throw new HoldfastError("invalid", sayMoved(found, flags));
    const decision = verb === "deny" ? ("deny" as const) : ("allow" as const);
    const answer = {
      decision,
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(flags.remember ? { remember: true } : {}),
      from: "another terminal",
    };
    await found.ledger.append([{ ...answerEvent(found.request.requestId, answer), actor: "user" }]);
    const now = (found.ledger.state.slices.approvals as ApprovalsState).requests[found.request.requestId];
    if (now?.movedTo !== undefined) throw new HoldfastError("invalid", sayMoved({ ...found, request: now }, flags));
    const counted = now?.answer;
    if (counted && counted.decision !== decision) {
      throw new HoldfastError("invalid", `${found.request.requestId} was answered already: ${counted.decision}`);
    }
    if (flags.json) process.stdout.write(`${JSON.stringify({ ...found.request, context: found.context, decision })}\n`);
    else process.stdout.write(`${decision === "allow" ? "Allowed" : "Denied"}: ${summary(found.request)}\n`);
    return 0;
  } finally {
    await store.close();
  }
}

async function allListed(store: Store, where: { root: string; jobsDir: string }): Promise<Found[]> {
  const reading = readers(mechanismsOf(where));
  const found: Found[] = [];
  for (const { id: context, status } of await listContexts(store)) {
    if (status === "completed") continue;
    const ledger = await openLedger({ store, name: context, ...reading });
    const state = ledger.state.slices.approvals as ApprovalsState;
    for (const request of listedRequests(state)) found.push({ context, ledger, request });
  }
  return found;
}

function chosen(all: Found[], id: string): Found {
  const near = all.filter((f) => f.request.requestId === id || f.request.requestId.startsWith(id));
  if (near.length === 1) return near[0]!;
  const why = near.length > 1 ? `${near.length} requests begin with ${id}` : `no request ${id} waits for an answer`;
  throw new HoldfastError("not_found", `${why}: see \`holdfast approve\``);
}

/** What was shown named the old folder: an answer to it would have to hold for another. */
function sayMoved({ context, ledger, request }: Found, flags: Flags): string {
  const { requestId, cwd, movedTo = "" } = request;
  const again = resumeLine({ id: context, root: contextState(ledger).root }, flags);
  return `${requestId} is void: it was asked in ${escaped(cwd)}, and the project's folder has moved to ${escaped(movedTo)} since. It is asked anew when its context goes on: ${again}`;
}

function list(all: Found[], flags: Flags): number {
  const open = all.filter(({ request }) => request.movedTo === undefined);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(open.map(({ context, request }) => ({ context, ...request })))}\n`);
    return 0;
  }
  if (open.length === 0) process.stderr.write("Nothing waits for approval.\n");
  for (const { context, request } of open) {
    process.stdout.write(`${request.requestId}  ${context}  ${request.agent}\n${describe(request)}\n\n`);
  }
  for (const one of all) if (one.request.movedTo !== undefined) process.stderr.write(`${sayMoved(one, flags)}\n`);
  if (open.length > 0)
    process.stderr.write("Answer with: holdfast approve ID [--remember] | holdfast deny ID [--reason TEXT]\n");
  return 0;
}

const summary = (request: ApprovalRequest): string => oneLine(`${request.tool} ${textOf(request)}`, 100);

/** The whole of what would happen, nothing cut, nothing that a terminal acts on. */
export function describe(request: ApprovalRequest): string {
  return [
    `  ${request.tool} in ${escaped(request.cwd)}`,
    ...escaped(textOf(request))
      .split("\n")
      .map((line) => `  │ ${line}`),
    `  ${request.firm ? "Protected: " : ""}${escaped(request.reason)}`,
  ].join("\n");
}

function textOf({ input }: ApprovalRequest): string {
  const { command } = (input ?? {}) as { command?: unknown };
  return typeof command === "string" ? command : JSON.stringify(input, null, 2);
}
