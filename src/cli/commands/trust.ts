// Owns `holdfast trust [ls|add|remove]`: which projects' own configuration is used.
import { HoldfastError } from "../../ledger/error.ts";
import { describeWithheld } from "../../settings/index.ts";
import type { Flags } from "../args.ts";
import { projectOf } from "../open.ts";
import { escaped } from "../printable.ts";
import { openSettings, trustOf } from "../settings.ts";

export async function trust(flags: Flags): Promise<number> {
  const [, verb = "show"] = flags.words;
  const project = await projectOf(flags);
  if (!["show", "add", "remove"].includes(verb)) {
    throw new HoldfastError("invalid", `trust ${verb}: there are trust (what holds here), trust add, trust remove`);
  }
  if (verb === "remove") {
    const was = await trustOf(flags, project).revoke(project.root);
    process.stdout.write(was ? `No longer trusted: ${project.root}\n` : `It was not trusted: ${project.root}\n`);
    return 0;
  }
  const open = await openSettings({ ...flags, trust: verb === "add" }, project);
  if (flags.json) {
    const { trusted, executables, withheld } = open;
    process.stdout.write(`${JSON.stringify({ root: project.root, trusted, executables, withheld })}\n`);
    return 0;
  }
  process.stdout.write(`${open.trusted ? "Trusted" : "Not trusted"}: ${project.root}\n`);
  for (const { kind, approved, shows } of open.executables) {
    process.stdout.write(`  ${approved ? "✓" : "✗"} ${escaped(kind)}\n`);
    for (const line of shows) process.stdout.write(`      ${escaped(line)}\n`);
  }
  for (const line of describeWithheld(open)) process.stdout.write(`  ${escaped(line)}\n`);
  return 0;
}
