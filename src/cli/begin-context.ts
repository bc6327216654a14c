// A new context of a prompt: its title, the type of its lead, and how it was started, from its first moment on.
import type { Harness } from "../harness.ts";
import { LEAD } from "../loop/agent.ts";
import { titleOf } from "../run-result.ts";
import { sayWithheld } from "./going-on.ts";
import type { OpenState } from "./open.ts";
import { checkSession, type SessionFlags, sessionTaken } from "./session.ts";
import type { Started } from "./start.ts";

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
