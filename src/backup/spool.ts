// A place of which every object is fetched once: what was checked is what is used.
import { hash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { errorCode } from "../ledger/guards.ts";
import type { BackupPlace } from "./place.ts";

/** Contract: `dir` is there, and nobody else's. A place on this machine is read where it is. */
export function spooled(place: BackupPlace, dir: string): BackupPlace {
  if (place.isLocal) return place;
  return {
    ...place,
    async get(name, most) {
      const file = join(dir, hash("sha256", name, "hex"));
      try {
        return fs.readFileSync(file);
      } catch (error) {
        if (errorCode(error) !== "ENOENT") throw error;
      }
      const bytes = await place.get(name, most);
      if (bytes) fs.writeFileSync(file, bytes, { mode: 0o600 });
      return bytes;
    },
  };
}
