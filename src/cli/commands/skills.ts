// `holdfast skills ls|show`: which skills and commands there are, where they come from, what is wrong with their files.
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { createSkillCatalogue } from "../../mechanisms/skills/catalogue.ts";
import { commandsIn, type Skill } from "../../mechanisms/skills/skill.ts";
import { describeWithheld } from "../../settings/load.ts";
import { nearestName } from "../../text/similarity.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { trustNow, trustOf } from "../settings.ts";
import { approvesSkill, skillPlaces } from "../skill-places.ts";
import { withheldFiles } from "../withheld-files.ts";

type Look = PlaceFlags & JsonToo & { trust: boolean };

export async function ls(flags: Look): Promise<number> {
  const skills = await skillsOf(flags);
  if (flags.json) process.stdout.write(`${JSON.stringify(skills.map(({ body: _, ...rest }) => rest))}\n`);
  else
    for (const { name, description, source } of skills)
      process.stdout.write(`${printable(name).padEnd(24)} ${oneLine(description, 70)}  (${printable(source)})\n`);
  if (skills.length === 0 && !flags.json)
    process.stdout.write(
      "No skills: put one into .claude/skills/NAME/SKILL.md, or a command into .claude/commands/NAME.md\n",
    );
  return 0;
}

export async function show(flags: Look, wanted: string): Promise<number> {
  const skills = await skillsOf(flags);
  const names = skills.map(({ name }) => name);
  const skill = skills.find(({ name }) => name.toLowerCase() === wanted.replace(/^\//, "").toLowerCase());
  if (!skill) {
    const near = nearestName(wanted, names);
    throw new HoldfastError(
      "not_found",
      `there is no skill ${wanted}: ${near ? `did you mean ${near}?` : "see `holdfast skills`"}`,
    );
  }
  process.stdout.write(flags.json ? `${JSON.stringify(skill)}\n` : shown(skill, await isApproved(flags, skill)));
  return 0;
}

async function skillsOf(flags: Look): Promise<Skill[]> {
  const project = await projectOf(flags);
  const { trusted } = await trustNow(flags, project);
  const catalogue = createSkillCatalogue(skillPlaces(project.root, { trusted }));
  const skills = await catalogue.list();
  const hidden = trusted ? [] : describeWithheld({ trusted, withheld: [] }, withheldFiles(project.root));
  for (const line of [...catalogue.problems(), ...hidden]) process.stderr.write(`holdfast: ${printable(line)}\n`);
  return skills;
}

async function isApproved(flags: Look, skill: Skill): Promise<boolean> {
  const project = await projectOf(flags);
  const trust = trustOf(flags, project);
  return !skill.repository || approvesSkill((kind, hash) => trust.approves(project.root, kind, hash))(skill);
}

function shown(skill: Skill, approved: boolean): string {
  const { body, name, description, source, argumentHint, allowedTools } = skill;
  const commands = commandsIn(body);
  const runs =
    commands.length === 0
      ? []
      : [`runs${approved ? "" : " (not yet trusted)"}: ${commands.map((one) => JSON.stringify(one)).join(", ")}`];
  const lines = [
    `${name}${argumentHint ? ` ${argumentHint}` : ""}`,
    description,
    `from ${source}`,
    ...(allowedTools.length > 0 ? [`its commands may use ${allowedTools.join(", ")}`] : []),
    ...runs,
  ];
  return `${lines.map((line) => printable(line)).join("\n")}\n\n${printable(body)}\n`;
}
