// Owns the question whose state this folder goes on with, asked at a terminal where only a person can tell.
import { createInterface } from "node:readline/promises";
import { adoptProject, type Project, type ProjectOptions, type Unclear } from "../contexts/index.ts";
import { sayChoice, sayDoubt } from "../contexts/project/sentences.ts";
import { HoldfastError } from "../ledger/error.ts";
import { printable } from "./printable.ts";

/** Contract: without an answer nothing is linked. */
export async function askAboutProject(where: ProjectOptions, unclear: Unclear): Promise<Project> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const gone = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  process.stderr.write(`\n${printable(sayDoubt(unclear))}.\nIs this the same project?\n`);
  try {
    for (;;) {
      const asked = lines.question("  [y]es, go on with its contexts, tasks and schedules · [n]o, begin anew > ");
      const said = (await Promise.race([asked, gone]))?.trim().toLowerCase();
      if (said === undefined) break;
      if (said === "y" || said === "yes") return adoptProject({ ...where, which: unclear.candidate.id }).project;
      if (said === "n" || said === "no") return adoptProject({ ...where, which: "new" }).project;
    }
  } finally {
    lines.close();
  }
  throw new HoldfastError("invalid", `${sayDoubt(unclear)}, and nobody answered: ${sayChoice(unclear)}`);
}
