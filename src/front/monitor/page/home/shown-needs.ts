// Which of what waits is shown at first: everything that can be answered, and the newest of what has stopped. Pure.
import type { Need } from "../../api.ts";

/** Past these the page says how many more there are. */
const MOST_ANSWERS = 30;
const MOST_FAILURES = 3;

/** Contract: in the order that they came in. */
export function shownNeeds(needs: readonly Need[]): Need[] {
  const left = { failures: MOST_FAILURES, answers: MOST_ANSWERS };
  return needs.filter(({ kind }) => (kind === "failure" ? left.failures-- : left.answers--) > 0);
}
