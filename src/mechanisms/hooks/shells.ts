// The shell that a hook's command is written for: bash, as those of Claude Code are; where there is none, sh, and that is said.

import { HOOK_SHELLS } from "../../claude-code/hook-events.ts";
import { findProgram, searchPath } from "../../ledger/programs.ts";

/** `args`: before the command. `says`: what people should know. `unusable`: why the command is not run. */
type Shell = { program: string; args: string[]; says?: string } | { unusable: string };

export type FindShell = (wanted?: string) => Shell;

const SH = "/bin/sh";
const NO_BASH = "there is no bash here: hooks run under sh, which does not know all that bash does; install bash";

/** `bash`: for tests; default: that of the machine, none of the project's. */
export function createShells(root: string, bash = () => findProgram("bash", [...searchPath(root), "/bin"])): FindShell {
  let found: { bash: string | undefined } | undefined;
  return (wanted = "bash") => {
    if (wanted === "sh") return { program: SH, args: ["-c"] };
    if (wanted !== "bash")
      return { unusable: `it is written for ${wanted}, and hooks run under ${HOOK_SHELLS.join(" or ")}: not run` };
    found ??= { bash: bash() };
    if (found.bash === undefined) return { program: SH, args: ["-c"], says: NO_BASH };
    // A bash whose input is a socket, as Node's pipes are, takes itself for a remote login and reads ~/.bashrc.
    return { program: found.bash, args: ["--norc", "-c"] };
  };
}
