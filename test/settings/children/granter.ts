// Grants trust to one directory after the other, and says so after each. `die` kills itself between writing and renaming.
import fs from "node:fs";
import path from "node:path";
import { openTrust } from "../../../src/settings/trust.ts";

const [file, dir, name, times, how] = process.argv.slice(2);
if (how === "die") fs.renameSync = () => process.kill(process.pid, "SIGKILL");
const trust = openTrust(file!);
for (let i = 0; i < Number(times); i++) {
  const root = path.join(dir!, `${name}-${i}`);
  fs.mkdirSync(root, { recursive: true });
  await trust.grant(root, { [`hooks ${name}`]: String(i) });
  fs.writeSync(1, `${root}\n`);
}
