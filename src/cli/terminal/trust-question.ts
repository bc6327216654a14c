// The one question of a first start: whether what this repository brings (settings, hooks, instructions, skills) is used.
import { createChoiceList } from "../../front/terminal/choice-list.ts";
import { withheldFiles } from "../withheld-files.ts";
import type { Sitting } from "./interactive.ts";

/** Contract: asked only where something is withheld, and once a start; no answer is no. */
export async function asksTrust(sitting: Sitting): Promise<void> {
  const { terminal, conversation } = sitting;
  if (!conversation) return;
  const { trusted, withheld } = conversation.settings;
  const files = [...new Set([...withheld.map(({ file }) => file), ...withheldFiles(sitting.state.project.root)])];
  if (trusted || files.length === 0) return;
  const shown = files.slice(0, 6).join(", ") + (files.length > 6 ? `, and ${files.length - 6} more` : "");
  const answer = await new Promise<boolean>((resolve) => {
    const close = terminal.app.open(
      createChoiceList({
        title: `This folder brings its own instructions and settings: ${shown}. They can change what the agent does, and hooks run commands. Use them?`,
        items: [
          { label: "No, go on without them", detail: "ask again next time" },
          { label: "Yes, as they are now", detail: "a change asks again" },
        ],
        style: terminal.style,
        changed: terminal.changed,
        onChoose(item) {
          close();
          resolve(item?.label.startsWith("Yes") ?? false);
        },
      }),
    );
  });
  if (answer) await sitting.change({ flags: { trust: true } });
}
