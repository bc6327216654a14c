// All commands, in the order of help. A new one is a row in one of the tables, and the file that carries it out.
import type { Command } from "./command.ts";
import { BACKUP, STATE } from "./table/backup.ts";
import { CONTEXTS } from "./table/contexts.ts";
import { HOUSE_COMMANDS } from "./table/house.ts";
import { WORK_COMMANDS } from "./table/work.ts";

export const COMMANDS: Readonly<Record<string, Command>> = {
  contexts: CONTEXTS,
  ...WORK_COMMANDS,
  backup: BACKUP,
  state: STATE,
  ...HOUSE_COMMANDS,
};
