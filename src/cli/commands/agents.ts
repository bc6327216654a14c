// `holdfast agents ls|show`: the types of agents there are, where they come from, what is wrong with their files.

import { oneLine, printable } from "../../front/presentation/printable.ts";
import { type Catalogue, createAgentCatalogue } from "../../mechanisms/agents/catalogue.ts";
import type { AgentDefinition } from "../../mechanisms/agents/definition.ts";
import { describeWithheld } from "../../settings/load.ts";
import { agentPlaces, withheldAgents } from "../agent-places.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { openSettings } from "../settings.ts";

type Look = PlaceFlags & JsonToo & { trust: boolean };

export async function ls(flags: Look): Promise<number> {
  const list = await (await catalogueOf(flags)).list();
  if (flags.json) process.stdout.write(`${JSON.stringify(list)}\n`);
  else
    for (const { name: type, source, description } of list)
      process.stdout.write(`${type.padEnd(20)} ${oneLine(description, 70)}  (${printable(source)})\n`);
  return 0;
}

export async function show(flags: Look, name: string): Promise<number> {
  const definition = await (await catalogueOf(flags)).definition(name);
  process.stdout.write(flags.json ? `${JSON.stringify(definition)}\n` : shown(definition));
  return 0;
}

/** What is wrong with files, or not used of them, is said. */
async function catalogueOf(flags: Look): Promise<Catalogue> {
  const project = await projectOf(flags);
  const { trusted } = await openSettings(flags, project);
  const catalogue = createAgentCatalogue({ places: agentPlaces(project.root, { trusted }) });
  await catalogue.list();
  for (const problem of catalogue.problems()) process.stderr.write(`holdfast: ${printable(problem)}\n`);
  const [hidden] = trusted ? [] : describeWithheld({ trusted, withheld: [] }, withheldAgents(project.root));
  if (hidden) process.stderr.write(`holdfast: ${hidden}\n`);
  return catalogue;
}

function shown({ instructions, ...rest }: AgentDefinition): string {
  const lines = Object.entries(rest).map(
    ([key, value]) => `${key}: ${printable(Array.isArray(value) ? value.join(", ") : String(value))}`,
  );
  return `${lines.join("\n")}\n\n${printable(instructions)}\n`;
}
