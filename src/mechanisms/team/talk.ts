// The bus for agents: sending, looking into the inbox, and its delivery, once, into the transcript.
import * as z from "zod";
import { isContextId } from "../../contexts/listing.ts";
import type { Wake, WakeInput } from "../../ledger/store.ts";
import { defineTool, type Note, type Tool, type Turn } from "../../loop/seams.ts";
import { sending } from "./decide.ts";
import type { InboxEntry, TeamState } from "./state.ts";

/** Shown at once; the rest in the next rounds. */
const MOST_ENTRIES = 100;
const MOST_CHARS = 64_000;
const BY = "team";

export const teamState = (agent: Pick<Turn, "slice">): TeamState => agent.slice<TeamState>("team");

/** Stands in the store while a context has a team, so that hosts find it. */
export const teamWake = (context: string, dueAt: number | null): WakeInput => ({
  context,
  agent: null,
  by: BY,
  dueAt,
});

/** Whether a row of `store.due()` says that its context has a team. */
export const isTeamWake = (wake: Wake): boolean => wake.by === BY && isContextId(wake.context);

export const inboxOf = (agent: Pick<Turn, "slice" | "agent">): readonly InboxEntry[] =>
  teamState(agent).inboxes[agent.agent] ?? [];

/** Contract: each entry with the fact that it was delivered, in one append; whatever is too much stays for the next round. */
export function deliver(turn: Turn): Note[] {
  const taken: InboxEntry[] = [];
  let chars = 0;
  for (const entry of inboxOf(turn)) {
    chars += entry.text.length;
    if (taken.length > 0 && (taken.length >= MOST_ENTRIES || chars > MOST_CHARS)) break;
    taken.push(entry);
  }
  const notes: Note[] = taken.map(({ id: _, from, ...said }) => ({ origin: from, ...said }));
  const last = notes.at(-1);
  if (last) last.events = [{ type: "inbox.delivered", data: { ids: taken.map((entry) => entry.id) } }];
  return notes;
}

const sendMessage = defineTool<{ to: string; content: string }>({
  name: "send_message",
  description: "Send a message to a teammate, lead, user, or * (everyone). It wakes whoever gets it.",
  schema: () => z.strictObject({ to: z.string(), content: z.string() }),
  effect: "internal",
  async execute({ turn, input }) {
    const events = sending(teamState(turn), turn.agent, input);
    return { content: `Sent to ${input.to === "*" ? "everyone" : input.to}.`, events };
  },
});

const checkInbox = defineTool<Record<string, never>>({
  name: "check_inbox",
  description: "See what waits in your inbox. Messages also come to you by themselves.",
  schema: () => z.strictObject({}),
  effect: "read",
  async execute({ turn }) {
    const entries = inboxOf(turn);
    if (entries.length === 0) return { content: "Nothing new: what came was shown to you already." };
    return { content: entries.map(({ from, text }) => `from ${from}: ${text}`).join("\n") };
  },
});

export const bus: Tool[] = [sendMessage, checkInbox];
