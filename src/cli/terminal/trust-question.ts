// Whether what a repository brings is used: asked once a start, and granted for exactly what was shown.
import { createTrustCard } from "../../front/terminal/trust-card.ts";
import { openSettings } from "../settings.ts";
import { withheldFiles } from "../withheld-files.ts";
import type { Sitting } from "./interactive.ts";

/** Contract: asked only where something is withheld; no answer is no. */
export async function asksTrust(sitting: Sitting): Promise<void> {
  const { terminal, conversation, flags } = sitting;
  if (!conversation || !terminal.isDrawn) return;
  const { project } = conversation.state;
  if (conversation.settings.trusted) return;
  const shown = await openSettings({ ...flags, trust: false }, project, { showsPieces: true });
  const files = [...new Set([...shown.withheld.map(({ file }) => file), ...withheldFiles(project.root)])];
  if (files.length === 0) return;
  const isTrusted = await new Promise<boolean>((resolve) => {
    const close = terminal.app.open(
      createTrustCard({
        files,
        runs: shown.executables.map(({ kind }) => kind),
        style: terminal.style,
        shownAt: Date.now(),
        now: () => Date.now(),
        answered(is) {
          close();
          resolve(is);
        },
      }),
    );
  });
  if (!isTrusted) return;
  await shown.trust.grant(project.root, Object.fromEntries(shown.executables.map(({ kind, hash }) => [kind, hash])));
  await sitting.change({});
}
