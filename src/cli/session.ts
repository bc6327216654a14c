// How a context begins, and the ids of programs that keep their own: one that was begun under such an id is found by it.
import type { ContextInfo } from "../contexts/listing.ts";
import { PREFIX, UUID } from "../front/sdk-protocol/session-id.ts";
import type { Harness } from "../harness.ts";
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";
import { LEAD } from "../loop/agent.ts";
import { titleOf } from "../run-result.ts";
import { sayWithheld } from "./going-on.ts";
import type { OpenState } from "./open.ts";
import type { Started } from "./start.ts";

export interface SessionFlags {
  sessionId?: string | undefined;
  forkSession?: boolean;
}

/** The id of a new context that is to be found by the given one. Contract: throws `invalid` when the flags do not fit each other. */
export function checkSession(
  flags: SessionFlags & { continue: boolean; resume?: string | undefined },
): string | undefined {
  const { sessionId, forkSession } = flags;
  const resuming = flags.continue || flags.resume !== undefined;
  if (forkSession && !resuming)
    throw new HoldfastError("invalid", "--fork-session copies a context: say which with -c or -r");
  if (sessionId === undefined) return undefined;
  if (!UUID.test(sessionId)) throw new HoldfastError("invalid", `--session-id takes a UUID, not "${sessionId}"`);
  if (!resuming) return `${PREFIX}${sessionId.toLowerCase()}`;
  const what = "--session-id names a new context: leave it out with -c or -r, or give -r that id";
  throw new HoldfastError("invalid", what);
}

/** An id is used once. */
function sessionTaken(error: unknown, { sessionId }: SessionFlags): never {
  if (sessionId === undefined || !isHoldfastError(error, "conflict")) throw error;
  const why = `there is a context ${sessionId} already: go on with it by -r ${sessionId}`;
  throw new HoldfastError("invalid", why, { cause: error });
}

/** A copy of the context as it is now; the original stays as it is. */
export async function forked(state: OpenState, { id }: ContextInfo): Promise<ContextInfo> {
  const { listContexts, openContexts } = await import("../contexts/index.ts");
  const original = await (await openContexts({ store: state.store })).get(id, { author: "user" });
  const copy = await original.fork();
  return (await listContexts(state.store)).find((one) => one.id === copy.id)!;
}

/** A new context of a prompt: its title, the type of its lead, and how it was started, from its first moment on. */
export interface NewConversation {
  flags: SessionFlags & { agent?: string | undefined; continue: boolean; resume?: string | undefined };
  harness: Pick<Harness, "agents" | "host">;
  /** The words that were typed. */
  title: string;
  state: OpenState;
  /** What the repository brings is used. */
  trusted: boolean;
  /** How it was started, where that says anything. */
  record: ReturnType<Started["record"]>;
}

export async function beginContext({
  flags,
  harness,
  title,
  state,
  trusted,
  record,
}: NewConversation): Promise<string> {
  const facts =
    flags.agent === undefined
      ? []
      : await harness.agents.define(LEAD, flags.agent).catch((error) => sayWithheld(error, { state, trusted }));
  const said = (id: string) => (record ? [record(id)] : []);
  const id = checkSession(flags);
  const given = { ...(id && { id }), root: state.project.root, title: titleOf(title), facts, said };
  return harness.host.create(given).catch((error) => sessionTaken(error, flags));
}
