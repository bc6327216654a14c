// Owns the register of known commands. To add one: a row in the file of its family, and a line in the test of that family.
import { AWK } from "./awk.ts";
import { BUILTINS } from "./builtins.ts";
import type { Commands, Judge } from "./call.ts";
import { CONTAINERS } from "./containers.ts";
import { DATA } from "./data.ts";
import { FILES } from "./files.ts";
import { GIT } from "./git.ts";
import { NETWORK_COMMANDS } from "./network.ts";
import { PACKAGES } from "./packages.ts";
import { RUN } from "./run.ts";
import { SEARCH } from "./search.ts";
import { SED } from "./sed.ts";
import { SYSTEM } from "./system.ts";
import { TEXT } from "./text.ts";
import { WRAPPERS } from "./wrappers.ts";

const FAMILIES: Commands[] = [
  BUILTINS,
  TEXT,
  SEARCH,
  SED,
  AWK,
  DATA,
  GIT,
  FILES,
  RUN,
  PACKAGES,
  CONTAINERS,
  NETWORK_COMMANDS,
  SYSTEM,
  WRAPPERS,
];

let register: Map<string, Judge> | undefined;

export function lookup(name: string): Judge | undefined {
  register ??= new Map(FAMILIES.flatMap((family) => Object.entries(family)));
  return register.get(name);
}
