// The register of known commands. To add one: a row in the file of its family, and a line in the test of that family.

import type { WordCheck } from "../shell/sweep.ts";
import { AWK } from "./awk.ts";
import { BUILD } from "./build.ts";
import { BUILTINS } from "./builtins.ts";
import type { Commands, Judge } from "./call.ts";
import { CLOUD } from "./cloud.ts";
import { CONTAINERS } from "./containers.ts";
import { ARCHIVES, DATA } from "./data.ts";
import { FILES, SYNC } from "./files.ts";
import { FIND } from "./find.ts";
import { GIT } from "./git.ts";
import { NETWORK_COMMANDS } from "./network.ts";
import { PACKAGE_COMMANDS } from "./packages.ts";
import { RUN_COMMANDS } from "./run.ts";
import { SEARCH } from "./search.ts";
import { SED } from "./sed.ts";
import { STARTERS } from "./starters.ts";
import { SYSTEM } from "./system.ts";
import { TEXT } from "./text.ts";
import { WRAPPERS } from "./wrappers.ts";

/** How the words of a family's commands are judged: each by the command's own judge, or what is left over by the look at every word. */
type Manner = Pick<WordCheck, "sends" | "runsProject" | "mayLoad"> & { isThorough?: boolean };
const THOROUGH: Manner = { isThorough: true };
const RUNS: Manner = { runsProject: true, mayLoad: true };

const FAMILIES: [Commands, Manner][] = [
  [BUILTINS, THOROUGH],
  [TEXT, THOROUGH],
  [SEARCH, THOROUGH],
  [FIND, THOROUGH],
  [SED, THOROUGH],
  [AWK, THOROUGH],
  [DATA, THOROUGH],
  [ARCHIVES, {}],
  [GIT, THOROUGH],
  [FILES, THOROUGH],
  [SYNC, {}],
  [RUN_COMMANDS, RUNS],
  [BUILD, RUNS],
  [STARTERS, RUNS],
  [PACKAGE_COMMANDS, RUNS],
  [CONTAINERS, { mayLoad: true }],
  [NETWORK_COMMANDS, { sends: true }],
  [CLOUD, { sends: true }],
  [SYSTEM, {}],
  [WRAPPERS, {}],
];

interface Known extends Manner {
  judge: Judge;
}
let register: Map<string, Known> | undefined;

export function lookup(name: string): Known | undefined {
  register ??= new Map(
    FAMILIES.flatMap(([family, manner]) =>
      Object.entries(family).map(([known, judge]): [string, Known] => [known, { judge, ...manner }]),
    ),
  );
  return register.get(name);
}
