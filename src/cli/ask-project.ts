// The question whose state this folder goes on with, asked at a terminal where only a person can tell.
import { createInterface } from "node:readline";
import { adoptProject } from "../contexts/project/links.ts";
import { sayChoice, sayDoubt } from "../contexts/project/sentences.ts";
import type { Project, ProjectOptions, Unclear } from "../contexts/project.ts";
import { printable } from "../front/presentation/printable.ts";
import { HoldfastError } from "../ledger/error.ts";

/** Contract: without an answer nothing is linked. */
export async function askAboutProject(where: ProjectOptions, unclear: Unclear): Promise<Project> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.setPrompt("  [y]es, go on with its contexts, tasks and schedules · [n]o, begin anew > ");
  process.stderr.write(`\n${printable(sayDoubt(unclear))}.\nIs this the same project?\n`);
  lines.prompt();
  try {
    for await (const line of lines) {
      const said = line.trim().toLowerCase();
      if (said === "y" || said === "yes") return adoptProject({ ...where, which: unclear.candidate.id }).project;
      if (said === "n" || said === "no") return adoptProject({ ...where, which: "new" }).project;
      lines.prompt();
    }
  } finally {
    lines.close();
  }
  throw new HoldfastError("invalid", `${sayDoubt(unclear)}, and nobody answered: ${sayChoice(unclear)}`);
}
