// Owns `holdfast agents ls|show`: the types of agents there are, where they come from, what is wrong with their files.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { type AgentDefinition, createAgentCatalogue } from "../../mechanisms/agents/index.ts";
import { agentPlaces } from "../agent-places.ts";
import type { Flags } from "../args.ts";
import { projectOf } from "../open.ts";
import { oneLine, printable } from "../printable.ts";
import { openSettings } from "../settings.ts";

export async function agents(flags: Flags): Promise<number> {
  const [, verb = "ls", name] = flags.words;
  const project = await projectOf(flags);
  const { trusted } = await openSettings(flags, project);
  const catalogue = createAgentCatalogue({ places: agentPlaces(project.root, { trusted }) });
  const list = await catalogue.list();
  for (const problem of catalogue.problems()) process.stderr.write(`holdfast: ${printable(problem)}\n`);
  const hidden = [".holdfast/agents", ".claude/agents"].filter((dir) => existsSync(join(project.root, dir)));
  if (!trusted && hidden.length > 0)
    process.stderr.write(`holdfast: not trusted: ${hidden.join(", ")} not used; look at them, then run with --trust\n`);
  if (verb === "ls") {
    if (flags.json) process.stdout.write(`${JSON.stringify(list)}\n`);
    else
      for (const { name: type, source, description } of list)
        process.stdout.write(`${type.padEnd(20)} ${oneLine(description, 70)}  (${printable(source)})\n`);
    return 0;
  }
  if (verb !== "show") throw new HoldfastError("invalid", `agents ${verb}: there are ls and show NAME`);
  if (name === undefined) throw new HoldfastError("invalid", "agents show needs a name: see `holdfast agents ls`");
  const definition = await catalogue.definition(name);
  process.stdout.write(flags.json ? `${JSON.stringify(definition)}\n` : shown(definition));
  return 0;
}

function shown({ instructions, ...rest }: AgentDefinition): string {
  const lines = Object.entries(rest).map(
    ([key, value]) => `${key}: ${printable(Array.isArray(value) ? value.join(", ") : String(value))}`,
  );
  return `${lines.join("\n")}\n\n${printable(instructions)}\n`;
}
