// The question whose state this folder goes on with, asked at a terminal where only a person can tell.
import { createInterface } from "node:readline";
import { adoptProject } from "../contexts/project/links.ts";
import { sayChoice, sayDoubt, sayTaken } from "../contexts/project/sentences.ts";
import type { Project, ProjectOptions, Unclear } from "../contexts/project.ts";
import { printable } from "../front/presentation/printable.ts";
import { HoldfastError } from "../ledger/error.ts";

/** Contract: without an answer nothing is linked. */
export async function askAboutProject(where: ProjectOptions, unclear: Unclear): Promise<Project> {
  const isSame = await askWhetherSame(`${sayDoubt(unclear)}.`, "[n]o, begin anew");
  if (isSame !== undefined) return adoptProject({ ...where, which: isSame ? unclear.candidate.id : "new" }).project;
  throw new HoldfastError("invalid", `${sayDoubt(unclear)}, and nobody answered: ${sayChoice(unclear)}`);
}

/** A project on a server that another folder of this machine works on. Contract: undefined when this folder is not to be one of it. */
export async function askAboutStore(
  where: ProjectOptions,
  { url, other }: { url: string; other: { id: string; path: string } },
): Promise<Project | undefined> {
  const isSame = await askWhetherSame(`${sayTaken(url, other)}.`, "[n]o, leave it");
  return isSame ? adoptProject({ ...where, which: other.id }).project : undefined;
}

/** Undefined: nobody answered. */
async function askWhetherSame(doubt: string, no: string): Promise<boolean | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.setPrompt(`  [y]es, go on with its contexts, tasks and schedules · ${no} > `);
  process.stderr.write(`\n${printable(doubt)}\nIs this the same project?\n`);
  lines.prompt();
  try {
    for await (const line of lines) {
      const said = line.trim().toLowerCase();
      if (said === "y" || said === "yes") return true;
      if (said === "n" || said === "no") return false;
      lines.prompt();
    }
  } finally {
    lines.close();
  }
  return undefined;
}
