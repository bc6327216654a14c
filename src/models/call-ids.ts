// Call ids as providers take them. The ledger's own are `c1`, `c2`, …; Mistral wants nine letters and digits, which suits all others too.
import { createHash } from "node:crypto";

const OWN = /^c(\d{1,8})$/;
const NINE = /^[A-Za-z0-9]{9}$/;

/** Contract: the same id always gives the same nine letters and digits, and two ids of one transcript never the same. */
export function nineCharacterId(id: string): string {
  const [, number] = OWN.exec(id) ?? [];
  if (number !== undefined) return `c${number.padStart(8, "0")}`;
  return NINE.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);
}
