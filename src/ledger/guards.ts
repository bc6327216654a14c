// What a type cannot know by itself, asked in one place: the code of an error, the data of a checked event, whether a value is an object.
import type { EventDefs, Fact } from "./events.ts";
import type { StoredEvent } from "./store.ts";

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `ENOENT` and its kin; undefined when it is no error that has one. */
export const errorCode = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** Contract: the event came out of a codec that has these definitions (a fold, an open ledger): its schema has checked the data. */
export const knownFact = <D extends EventDefs>(event: StoredEvent): Fact<D> => event as Fact<D>;
