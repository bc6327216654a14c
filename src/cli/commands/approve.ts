// Owns `holdfast approve [ID]` and `holdfast deny ID`: answering, from any terminal, what an agent waits for.
import { listContexts } from "../../contexts/index.ts";
import { mechanismsOf } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import type { Store } from "../../ledger/store.ts";
import { readers } from "../../loop/host.ts";
import {
  type ApprovalRequest,
  type ApprovalsState,
  answerEvent,
  openRequests,
} from "../../mechanisms/approvals/index.ts";
import type { Flags } from "../args.ts";
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
    const open = await allOpen(store, { root: project.root, jobsDir });
    if (id === undefined) return list(open, flags);
    const found = chosen(open, id);
    const decision = verb === "deny" ? ("deny" as const) : ("allow" as const);
    const answer = {
      decision,
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(flags.remember ? { remember: true } : {}),
      from: "another terminal",
    };
    await found.ledger.append([{ ...answerEvent(found.request.requestId, answer), actor: "user" }]);
    const counted = (found.ledger.state.slices.approvals as ApprovalsState).requests[found.request.requestId]?.answer;
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

async function allOpen(store: Store, where: { root: string; jobsDir: string }): Promise<Found[]> {
  const reading = readers(mechanismsOf(where));
  const found: Found[] = [];
  for (const { id: context, status } of await listContexts(store)) {
    if (status === "completed") continue;
    const ledger = await openLedger({ store, name: context, ...reading });
    const state = ledger.state.slices.approvals as ApprovalsState;
    for (const request of openRequests(state)) found.push({ context, ledger, request });
  }
  return found;
}

function chosen(open: Found[], id: string): Found {
  const near = open.filter((f) => f.request.requestId === id || f.request.requestId.startsWith(id));
  if (near.length === 1) return near[0]!;
  const why = near.length > 1 ? `${near.length} requests begin with ${id}` : `no request ${id} waits for an answer`;
  throw new HoldfastError("not_found", `${why}: see \`holdfast approve\``);
}

function list(open: Found[], flags: Flags): number {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(open.map(({ context, request }) => ({ context, ...request })))}\n`);
    return 0;
  }
  if (open.length === 0) process.stderr.write("Nothing waits for approval.\n");
  for (const { context, request } of open) {
    process.stdout.write(`${request.requestId}  ${context}  ${request.agent}\n${describe(request)}\n\n`);
  }
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
