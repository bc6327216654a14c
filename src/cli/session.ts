// Owns the ids of programs that keep their own: a context that was begun under one is found by it, and is called so in their format.
import type { ContextInfo } from "../contexts/index.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { OpenState } from "./open.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PREFIX = "ctx_";

/** The id of a context that is to be found by this one. Contract: throws `invalid` unless it is a UUID. */
export function contextIdOf(session: string): string {
  if (UUID.test(session)) return `${PREFIX}${session.toLowerCase()}`;
  throw new HoldfastError("invalid", `--session-id takes a UUID, not "${session}"`);
}

/** As the program that chose it knows it; any other context by its own id. */
export const sessionIdOf = (context: string): string =>
  UUID.test(context.slice(PREFIX.length)) ? context.slice(PREFIX.length) : context;

/** A copy of the context as it is now; the original stays as it is. */
export async function forked(state: OpenState, { id }: ContextInfo): Promise<ContextInfo> {
  const { listContexts, openContexts } = await import("../contexts/index.ts");
  const original = await (await openContexts({ store: state.store })).get(id, { author: "user" });
  const copy = await original.fork();
  return (await listContexts(state.store)).find((one) => one.id === copy.id)!;
}
