// `holdfast trust [show|add|remove]`: which projects' own configuration is used.

import { escaped } from "../../front/presentation/printable.ts";
import { describeWithheld } from "../../settings/load.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { openSettings, trustOf } from "../settings.ts";
import { withheldFiles } from "../withheld-files.ts";

type Look = PlaceFlags & JsonToo;

export async function remove(flags: Look): Promise<number> {
  const project = await projectOf(flags);
  const was = await trustOf(flags, project).revoke(project.root);
  if (flags.json) process.stdout.write(`${JSON.stringify({ root: project.root, trusted: false, was })}\n`);
  else process.stdout.write(was ? `No longer trusted: ${project.root}\n` : `It was not trusted: ${project.root}\n`);
  return 0;
}

export const show = (flags: Look): Promise<number> => say(flags, { trust: false });
export const add = (flags: Look): Promise<number> => say(flags, { trust: true });

async function say(flags: Look, { trust }: { trust: boolean }): Promise<number> {
  const project = await projectOf(flags);
  const open = await openSettings({ ...flags, trust }, project, { showsPieces: true });
  if (flags.json) {
    const { trusted, executables, withheld } = open;
    process.stdout.write(`${JSON.stringify({ root: project.root, trusted, executables, withheld })}\n`);
    return 0;
  }
  process.stdout.write(`${open.trusted ? "Trusted" : "Not trusted"}: ${project.root}\n`);
  for (const { kind, approved, shows } of open.executables) {
    process.stdout.write(`  ${approved ? "✓" : "✗"} ${escaped(kind)}\n`);
    process.stdout.write(asLines(shows));
  }
  if (!open.trusted)
    for (const { file, shows } of await (await import("../project-pieces.ts")).projectPieces(project.root, []))
      process.stdout.write(`  ✗ ${escaped(file)} would run\n${asLines(shows)}`);
  for (const line of describeWithheld(open, withheldFiles(project.root))) process.stdout.write(`  ${escaped(line)}\n`);
  return 0;
}

/** Indented, every one: none of them can look like a line of the listing. */
const asLines = (shows: readonly string[]): string =>
  shows
    .flatMap((one) => one.split("\n"))
    .map((line) => `      ${escaped(line)}\n`)
    .join("");
