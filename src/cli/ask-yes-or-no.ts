// A question at the terminal that is answered with yes or no.
import { createInterface } from "node:readline";
import { printable } from "../front/presentation/printable.ts";

/** Contract: anything but a clear yes is no; Ctrl-C, Ctrl-D and an input that ends too. */
export async function askYesOrNo(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<boolean>((resolve) => {
      lines.once("SIGINT", () => resolve(false)).once("close", () => resolve(false));
      lines.question(`${printable(question)} [y/N] `, (said) => resolve(/^y(es)?$/i.test(said.trim())));
    });
  } finally {
    lines.close();
  }
}
