// Where the built page lies: beside the bundles, or in the dist of the clone that the sources are run from.
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { HoldfastError } from "../../ledger/error.ts";

const PLACES = ["../monitor/", "../../../dist/monitor/"];

/** Contract: a folder with `index.html`, `app.js` and `app.css`. */
export function monitorPageFolder(): string {
  const folders = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = folders.find((folder) => fs.existsSync(`${folder}app.js`));
  if (found === undefined) throw new HoldfastError("not_found", "the monitor's page is not built: npm run build");
  return found;
}
