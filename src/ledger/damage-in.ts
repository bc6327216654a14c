// Which damage an error tells of.
import { isHoldfastError } from "./error.ts";
import { isRecord } from "./guards.ts";
import type { Damage } from "./store.ts";

const isDamage = (detail: unknown): detail is Damage => isRecord(detail) && typeof detail.what === "string";

/** Undefined: it tells of none. */
export const damageIn = (error: unknown): Damage | undefined =>
  isHoldfastError(error, "damaged") && isDamage(error.detail) ? error.detail : undefined;
