// `holdfast instructions [FOLDER]`: which files agents take as instructions here, in their order, and why others are not read.
import fs from "node:fs";
import { resolve } from "node:path";
import { printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { folderPlaces, foldersTo } from "../../mechanisms/instructions/files.ts";
import { gather, type Instructions } from "../../mechanisms/instructions/gather.ts";
import { instructionsAt } from "../../mechanisms/instructions/index.ts";
import { settingsPlaces } from "../../settings/files.ts";
import { visible } from "../../text/visible.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { trustNow } from "../settings.ts";
import { withheldInstructions } from "../withheld-files.ts";

type Look = PlaceFlags & JsonToo & { trust: boolean; text: boolean };

export async function instructions(flags: Look, folder: string | undefined): Promise<number> {
  const project = await projectOf(flags);
  const { root } = project;
  const places = settingsPlaces();
  const loaded = await trustNow(flags, project);
  const { trusted } = loaded;
  const start = await instructionsAt(root, root, { ...places, trusted });
  const at = resolve(flags.cwd, folder ?? ".");
  if (at !== root && !at.startsWith(`${root}/`))
    throw new HoldfastError("invalid", `${folder} is outside ${root}: name a folder of the project`);
  if (!fs.statSync(at, { throwIfNoEntry: false })?.isDirectory())
    throw new HoldfastError("not_found", `there is no folder ${folder}: name a folder of the project`);
  const nearer = trusted
    ? await gather(
        foldersTo(root, at).flatMap((one) => folderPlaces(root, one)),
        { home: places.home, within: [root], known: start.loaded },
      )
    : { loaded: [], leftOut: [] };
  const files = [...start.loaded, ...nearer.loaded].map(shownOf);
  const rules = start.rules.map(shownOf);
  const unused = trusted ? [] : withheldInstructions(root);
  const notTrusted = unused.map((shown) => ({ shown, why: "this project is not trusted (`holdfast trust add`)" }));
  const leftOut = [...start.leftOut, ...nearer.leftOut, ...notTrusted];
  if (flags.json) {
    const lean = (all: typeof files) => (flags.text ? all : all.map(({ text: _, ...rest }) => rest));
    process.stdout.write(`${JSON.stringify({ root, trusted, files: lean(files), rules: lean(rules), leftOut })}\n`);
    return 0;
  }
  const print = (text: string) => process.stdout.write(`${printable(text)}\n`);
  const say = (line: string) => print(visible(line)); // a file may be called like a line of this list
  for (const { file, why, chars, text } of files) {
    say(`${file.padEnd(36)} ${why}, ${chars} characters`);
    if (flags.text) print(`\n${text}\n`);
  }
  for (const { file, paths = [] } of rules) say(`${file.padEnd(36)} when a file like ${paths.join(", ")} is touched`);
  for (const { shown, why } of leftOut) say(`${shown.padEnd(36)} not read: ${why}`);
  if (files.length + rules.length + leftOut.length === 0)
    say("No instructions: write AGENTS.md, and every agent here reads it");
  return 0;
}

const shownOf = ({ shown, why, text, paths, hash }: Instructions) => ({
  file: shown,
  why,
  chars: text.length,
  hash,
  ...(paths && { paths }),
  text,
});
