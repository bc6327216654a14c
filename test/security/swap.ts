// A child that swaps a name between the real thing and a link, as fast as it can, until it is killed. Arguments: the name, the link's target.
import { lstatSync, renameSync, rmSync, symlinkSync } from "node:fs";

const [name, target] = process.argv.slice(2) as [string, string];
const real = `${name}.real`;
const link = `${name}.link`;
const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** The tool may have made the folder anew where for a moment there was none. */
function tidy(): void {
  try {
    if (isLink(name)) renameSync(name, link);
    if (isThere(real)) {
      rmSync(name, { recursive: true, force: true });
      renameSync(real, name);
    }
  } catch {
    // once more next time
  }
}

symlinkSync(target, link);
process.send!("swapping");
for (;;) {
  try {
    renameSync(name, real);
    renameSync(link, name);
    for (let i = 0; i < 200; i++) Math.sqrt(i); // both states last a moment
    renameSync(name, link);
    renameSync(real, name);
  } catch {
    tidy();
  }
}
