// Owns `holdfast approve [REQUEST]` and `holdfast deny REQUEST`: answering, from any terminal, what an agent waits for.
import { listContexts } from "../../contexts/index.ts";
import { mechanismsOf } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import { readers } from "../../loop/host.ts";
import {
  type ApprovalRequest,
  type ApprovalsState,
  answerEvent,
  openRequests,
} from "../../mechanisms/approvals/index.ts";
import { commandLine } from "../command-line.ts";
import type { JsonToo, Place } from "../flags.ts";
import { type OpenState, withState } from "../open.ts";
import { escaped, oneLine } from "../printable.ts";

interface Found {
  context: string;
  ledger: Ledger;
  request: ApprovalRequest;
}

type Look = Place & JsonToo;
type Answer = Look & { remember: boolean; reason?: string };

export const ls = (flags: Look): Promise<number> =>
  withState(flags, async (state) => list(await allOpen(state), flags));

/** `way`: what was typed after the request. */
export function answer(flags: Answer, id: string, way = "allow"): Promise<number> {
  if (way !== "allow" && way !== "deny") throw new HoldfastError("invalid", `an answer is allow or deny, not "${way}"`);
  const decision: "allow" | "deny" = way;
  return withState(flags, async (state) => {
    const found = chosen(await allOpen(state), id);
    const said = {
      decision,
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      ...(flags.remember ? { remember: true } : {}),
      from: "another terminal",
    };
    await found.ledger.append([{ ...answerEvent(found.request.requestId, said), actor: "user" }]);
    const counted = (found.ledger.state.slices.approvals as ApprovalsState).requests[found.request.requestId]?.answer;
    if (counted && counted.decision !== decision) {
      throw new HoldfastError("invalid", `${found.request.requestId} was answered already: ${counted.decision}`);
    }
    if (flags.json) process.stdout.write(`${JSON.stringify({ ...found.request, context: found.context, decision })}\n`);
    else process.stdout.write(`${decision === "allow" ? "Allowed" : "Denied"}: ${summary(found.request)}\n`);
    return 0;
  });
}

async function allOpen({ store, project: { root }, jobsDir }: OpenState): Promise<Found[]> {
  const reading = readers(mechanismsOf({ root, jobsDir }));
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

function list(open: Found[], flags: Look): number {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(open.map(({ context, request }) => ({ context, ...request })))}\n`);
    return 0;
  }
  if (open.length === 0) process.stderr.write("Nothing waits for approval.\n");
  for (const { context, request } of open) {
    process.stdout.write(`${request.requestId}  ${context}  ${request.agent}\n${describe(request)}\n\n`);
  }
  if (open[0]) {
    const answer = (verb: string) => commandLine([verb, open[0]!.request.requestId], flags);
    process.stderr.write(`Answer with: ${answer("approve")}\n         or: ${answer("deny")}\n`);
  }
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
