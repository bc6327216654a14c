// What each tab of a context gets, and what it can ask its frame for.
import type { ComponentType } from "preact";
import type { ContextKey } from "../../api.ts";
import type { ContextAt, ContextPage } from "../../context-api.ts";
import type { ContextViewName, Round } from "../router.ts";
import type { LiveContext } from "./live.ts";

export interface TabProps extends ContextKey {
  /** The event whose moment is looked at; undefined: now. */
  seq: number | undefined;
  /** The context as it was then. The newest answer: while the scrubber moves it may be of another moment (`at.seq`). Undefined: now, or not there yet. */
  at: ContextAt | undefined;
  /** Its head, as of now. */
  page: ContextPage;
  live: LiveContext;
  /** The request that the address names. */
  round: Round | undefined;
  /** Looks at that moment; undefined: at now. */
  goTo(seq: number | undefined): void;
  /** Another tab; the moment stays where none is named. */
  open(place: Place): void;
}

export interface Place {
  view: ContextViewName;
  seq?: number;
  round?: Round;
}

export type Tab = ComponentType<TabProps>;
