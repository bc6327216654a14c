// What of a project's skills can run: for whoever shows it, or trusts it.
import { createSkillCatalogue } from "../mechanisms/skills/catalogue.ts";
import { commandsIn } from "../mechanisms/skills/skill.ts";
import type { TrustedPiece } from "../settings/repository.ts";
import { ofRepository, skillPiece } from "./skill-places.ts";

/** The project's skills that run commands: each is trusted as it is. */
export async function skillPieces(root: string): Promise<TrustedPiece[]> {
  const skills = await createSkillCatalogue(ofRepository(root)).list();
  return skills.flatMap((skill) => {
    const commands = commandsIn(skill.body);
    return commands.length > 0 ? [skillPiece(skill, commands)] : [];
  });
}
