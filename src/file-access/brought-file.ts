// A file that a repository or a plugin brings along: whatever links lead to it, it lies inside of that, and it is no place of secrets.
import { isInside, realPath } from "./paths.ts";
import { hold, readHeld, release } from "./safe-open.ts";
import { isSecretIn } from "./secret-names.ts";

/** Contract: one opening, what was judged is what is read; throws with the reason in a few words. */
export function readBrought(file: string, { root, shown }: { root: string; shown: string }): Buffer {
  const real = realPath(root);
  const found = realPath(file);
  if (!isInside(real, found)) throw new Error("it leads out of the project");
  if (isSecretIn(real, found)) throw new Error("it leads to a place of secrets");
  const held = hold({ root: real, roots: [real], exclude: [], judged: found }, file, { shown });
  if (!held) throw new Error("it is gone");
  try {
    return readHeld(held, shown);
  } finally {
    release(held);
  }
}
