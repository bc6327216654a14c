// What an acknowledged append to a SQLite file survives.
import type { Durability } from "../store.ts";

export const POWER_SAFE: Durability = {
  class: "power-safe",
  says: "What is acknowledged survives a power cut; the file is as safe as the disk it is on.",
};
