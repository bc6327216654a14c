// Where skills and commands stand, in their order: the project's only when it is trusted; and what of theirs can run.
import { join } from "node:path";
import type { SkillPlace } from "../mechanisms/skills/catalogue.ts";
import type { Skill } from "../mechanisms/skills/skill.ts";
import { settingsPlaces } from "../settings/files.ts";
import { pieceOf, type TrustedPiece } from "../settings/repository.ts";

const FOLDERS = [
  [".holdfast/skills", "skill"],
  [".agents/skills", "skill"],
  [".claude/skills", "skill"],
  [".holdfast/commands", "command"],
  [".claude/commands", "command"],
] as const;

export function skillPlaces(root: string, { trusted }: { trusted: boolean }): SkillPlace[] {
  const { home, configHome } = settingsPlaces();
  const ofHome: SkillPlace[] = [["skills", "skill"] as const, ["commands", "command"] as const].map(([name, kind]) => ({
    dir: join(configHome, "holdfast", name),
    shown: join(configHome, "holdfast", name),
    kind,
  }));
  ofHome.push(...FOLDERS.map(([name, kind]) => ({ dir: join(home, name), shown: `~/${name}`, kind })));
  return [...(trusted && root !== home ? ofRepository(root) : []), ...ofHome];
}

export const ofRepository = (root: string): SkillPlace[] =>
  FOLDERS.map(([shown, kind]) => ({ dir: join(root, shown), shown, kind, repository: { root } }));

/** A skill that runs commands is trusted as it is. */
export const skillPiece = (skill: Skill, commands: string[]): TrustedPiece =>
  pieceOf({ name: "skill", what: "commands", file: skill.source, content: skill.hash, shows: commands });

export const approvesSkill =
  (approves: (kind: string, hash: string) => boolean) =>
  (skill: Skill): boolean => {
    const { kind, hash } = skillPiece(skill, []);
    return approves(kind, hash);
  };
