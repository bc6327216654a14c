// What the prompt completes: commands and skills behind a slash, files of the project behind an @.
import { createFileCompletion } from "../../front/terminal/file-completion.ts";
import type { Completions } from "../../front/terminal/prompt-completion.ts";
import { createSkillCatalogue } from "../../mechanisms/skills/catalogue.ts";
import type { OpenConversation } from "../conversation.ts";
import { skillPlaces } from "../skill-places.ts";
import { SLASH_COMMANDS } from "./commands.ts";

export interface NamedSkill {
  name: string;
  help: string;
}

/** Those that a person may name. */
export async function namedSkills(conversation: OpenConversation | undefined): Promise<NamedSkill[]> {
  if (!conversation) return [];
  const { state, settings } = conversation;
  const all = await createSkillCatalogue(skillPlaces(state.project.root, settings)).list();
  return all.filter(({ onlyByModel }) => !onlyByModel).map(({ name, description }) => ({ name, help: description }));
}

export function createCompletions(
  conversation: () => OpenConversation | undefined,
  { root, signal }: { root: string; signal: AbortSignal },
): Completions {
  const { files } = createFileCompletion({ root, signal });
  let of: OpenConversation | undefined;
  let skills: NamedSkill[] = [];
  return {
    commands() {
      const now = conversation();
      if (now !== of) {
        of = now;
        void namedSkills(now).then(
          (found) => {
            skills = found;
          },
          () => undefined,
        );
      }
      return [...SLASH_COMMANDS.map(({ name, help }) => ({ name, help })), ...skills];
    },
    files,
  };
}
