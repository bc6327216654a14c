// Replaying a recording in a test: what is not listed beside it as expected fails it.
import { HoldfastError } from "../ledger/error.ts";
import type { Mechanism, Tool } from "../loop/seams.ts";

/** What the program has besides the house, when the context was recorded by one. */
export interface ReplaysOptions {
  mechanisms?: readonly Mechanism[];
  tools?: readonly Tool[];
}

/**
 * Computes anew what the recording says was decided (`holdfast contexts export --as-test`). Contract: throws one error with every
 * difference that `FILE.expected.json` does not list, and with every one that it lists and that is not there.
 */
export async function replays(file: string, opts: ReplaysOptions = {}): Promise<{ events: number; compared: number }> {
  const { againstExpected, differenceText, expectedBeside, goneText, readExpected, replayFixture } = await import(
    "../replay/index.ts"
  );
  const { events, compared, differences } = await replayFixture(file, opts);
  const { unexpected, gone } = againstExpected(differences, await readExpected(file));
  if (unexpected.length + gone.length === 0) return { events, compared };
  const missing = gone.map((one) => goneText(one, expectedBeside(file)));
  const lines = [...unexpected.map((one) => differenceText(one)), ...missing];
  throw new HoldfastError("conflict", `${file} does not replay:\n${lines.join("\n")}`);
}
