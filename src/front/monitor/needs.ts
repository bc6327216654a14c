// What of a context waits for a person: questions before a call, plans, and work that does not go on by itself.
import type { ContextInfo } from "../../contexts/listing.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Store } from "../../ledger/store.ts";
import type { ApprovalRequest, ApprovalsState } from "../../mechanisms/approvals/events.ts";
import { listedRequests } from "../../mechanisms/approvals/index.ts";
import { previewChange } from "../../mechanisms/files/change-preview.ts";
import { pendingPlans, type TeamState } from "../../mechanisms/team/state.ts";
import { counted } from "../../text/counted.ts";
import { choicesFor, describeRequest } from "../presentation/approval.ts";
import { type Place, resumeLine } from "../presentation/command-line.ts";
import { escaped, escapedName, oneLine } from "../presentation/printable.ts";
import { callTitle } from "../presentation/titles.ts";
import type { ContextKey, Need } from "./api.ts";
import type { MonitoredProject } from "./monitored-project.ts";

/** Work that stopped longer ago is found in the list. */
const RECENT_MS = 7 * 24 * 3_600_000;
/** Of a plan, and of what an approval asks: what is longer is read, and allowed, where all of it can be shown. */
const PLAN_CHARS = 20_000;
const ASKED_CHARS = 60_000;
/** Of a rule that an answer keeps. */
const RULE_CHARS = 2_000;
/** Of all that waits, on the page at once. */
const ALL_CHARS = 300_000;
const MOST_NEEDS = 500;
/** So far back the end of the last turn is looked for. */
const TAIL = 300;

const sliceIn = <T>({ state }: Ledger, name: string): T | undefined => state.slices[name] as T | undefined;

/** `ledger`: folded with approvals and team at least. */
export async function needsOf(
  key: ContextKey,
  info: ContextInfo,
  { ledger, place, isOwnFolder }: { ledger: Ledger } & Pick<MonitoredProject, "place" | "isOwnFolder">,
): Promise<Need[]> {
  const approvals = sliceIn<ApprovalsState>(ledger, "approvals");
  const requests = approvals ? listedRequests(approvals).filter(({ movedTo }) => movedTo === undefined) : [];
  const team = sliceIn<TeamState>(ledger, "team");
  const plans = team ? pendingPlans(team) : [];
  return [
    ...(await Promise.all(requests.map((request) => approvalNeed(key, request, isOwnFolder)))),
    ...plans.map(
      ({ requestId, by, plan, at }): Need => ({
        ...key,
        ...{ kind: "plan", id: requestId, at, agent: oneLine(by, 60) },
        title: `plan of ${oneLine(by, 60)}`,
        text: escaped(plan),
      }),
    ),
    ...(await failureOf(key, info, { store: ledger.store, place })),
  ];
}

async function approvalNeed(
  key: ContextKey,
  request: ApprovalRequest,
  isOwnFolder: MonitoredProject["isOwnFolder"],
): Promise<Need> {
  const { requestId, agent, tool, input, askedAt } = request;
  const change = await previewChange(request, isOwnFolder).catch(() => undefined);
  return {
    ...key,
    ...{ kind: "approval", id: requestId, at: askedAt, agent: oneLine(agent, 60) },
    title: oneLine(`${tool} ${callTitle(tool, input)}`, 200),
    lines: describeRequest({ request, ...(change && { change }) }),
    // What is kept is said whole, or not offered.
    choices: choicesFor(request)
      .map(({ scope, says }) => ({ scope, says: escapedName(says) }))
      .filter(({ says }) => says.length <= RULE_CHARS),
  };
}

/** Contract: nothing of what may be allowed is left out: what has no room is named, and can only be refused here. */
export function withinBounds(needs: readonly Need[]): Need[] {
  let room = ALL_CHARS;
  return needs.slice(0, MOST_NEEDS).map((need) => {
    if (need.kind === "failure") return need;
    const length = lengthOf(need);
    const most = Math.min(room, need.kind === "approval" ? ASKED_CHARS : PLAN_CHARS);
    if (length <= most) {
      room -= length;
      return need;
    }
    return need.kind === "approval" ? tooLong(need) : startOnly(need, Math.max(200, most));
  });
}

type ApprovalNeed = Extract<Need, { kind: "approval" }>;
type TextNeed = Extract<Need, { kind: "plan" | "question" }>;

const lengthOf = (need: ApprovalNeed | TextNeed): number =>
  need.kind === "approval"
    ? [...need.lines, ...need.choices.map(({ says }) => says)].reduce((sum, line) => sum + line.length, 0)
    : need.text.length;

function startOnly(need: TextNeed, chars: number): TextNeed {
  const start = need.text.slice(0, chars);
  if (need.kind === "question") return { ...need, text: `${start} …` };
  const left = `… ${counted(need.text.length - chars, "more character")}, too long for the page: holdfast team plans`;
  return { ...need, text: `${start}\n${left}`, isCut: true };
}

const tooLong = (need: ApprovalNeed): ApprovalNeed => ({
  ...need,
  lines: [
    ...need.lines.slice(0, 5).map((line) => oneLine(line, 200)),
    `… ${counted(need.lines.length, "line")}, too long for the page: holdfast approve show ${need.id}`,
  ],
  choices: need.choices.filter(({ scope }) => scope === "no"),
});

async function failureOf(
  key: ContextKey,
  info: ContextInfo,
  { store, place }: { store: Store; place: Place },
): Promise<Need[]> {
  const { id, status, updatedAt, aside, root } = info;
  if (isFreshFork(info)) return [];
  if ((status !== "failed" && status !== "interrupted") || aside || Date.now() - updatedAt > RECENT_MS) return [];
  const text = status === "failed" ? await lastError(store, info) : goneText(info);
  const command = resumeLine({ id, root }, place);
  return [
    {
      ...key,
      ...{ kind: "failure", id, at: updatedAt, agent: "lead", title: oneLine(info.title, 200), status, text, command },
    },
  ];
}

/** Of a fork itself: that it is one, and where its folder is now. */
const FORK_EVENTS = 2;

/** Its turn is open, and nobody has gone on with it yet: nothing was interrupted. */
export const isFreshFork = ({ forkOf, heldBy, events, status }: ContextInfo): boolean =>
  status === "interrupted" && forkOf?.goesOn === true && !heldBy && events - forkOf.seq <= FORK_EVENTS;

const goneText = ({ heldBy }: Pick<ContextInfo, "heldBy">): string =>
  heldBy ? `its process (${heldBy.holder.pid}) is gone` : "its process is gone";

/** How the last turn of its lead ended, in one line. */
export async function lastError(store: Store, { id, events }: Pick<ContextInfo, "id" | "events">): Promise<string> {
  let found = "";
  const range = { after: Math.max(0, events - TAIL), types: ["turn.ended", "work.ended"] };
  for await (const { data } of store.read(id, range)) {
    const { error, text, reason: how } = isRecord(data) && !("$spill" in data) ? data : {};
    found = oneLine([error, text, how].find((one) => typeof one === "string" && one !== "")?.toString() ?? "", 300);
  }
  return found;
}

/** Why it does not go on, in one line; undefined where it does, or is done. */
export function whyOf(info: ContextInfo, needs: readonly Need[], ended: string | undefined): string | undefined {
  const [first] = needs;
  const more = needs.length > 1 ? ` (and ${needs.length - 1} more)` : "";
  if (first?.kind === "approval") return `${first.agent} asks: ${first.title}${more}`;
  if (first?.kind === "plan") return `${first.title} waits for an answer${more}`;
  if (isFreshFork(info)) return "a fork that waits to be gone on with";
  if (info.status === "interrupted") return goneText(info);
  if (info.status === "failed" || info.status === "paused") return ended;
  if (info.heldBy?.stopped) return `its process (${info.heldBy.holder.pid}) was stopped by a signal`;
  return undefined;
}
