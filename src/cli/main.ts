// The command line's front door: which command, which exit code, one line for each error.
import { isHoldfastError } from "../ledger/error.ts";
import { VERSION } from "../version.ts";
import { errorText } from "./error-text.ts";
import { parseCommandLine } from "./parse.ts";
import { watchStreams } from "./streams.ts";

export async function main(argv: string[]): Promise<number> {
  const streams = watchStreams();
  const debug = argv.includes("--debug");
  try {
    const code = await dispatch(argv);
    await streams.drained();
    return code === 0 && streams.lost() ? 1 : code;
  } catch (error) {
    const [{ printable }, { damageIn }] = await Promise.all([
      import("../front/presentation/printable.ts"),
      import("../ledger/damage-in.ts"),
    ]);
    // Of this store: a damaged backup, checkpoint or exported file is not repaired so.
    const hint = damageIn(error) ? " (holdfast contexts verify --repair)" : "";
    for (const line of [errorText(error) + hint, ...moreProblems(error)])
      process.stderr.write(`holdfast: ${printable(line).replace(/\s*\n\s*/g, " ")}\n`);
    if (debug) process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    return exitCodeOf(error);
  }
}

async function dispatch(argv: string[]): Promise<number> {
  const said = parseCommandLine(argv);
  if ("help" in said) {
    process.stdout.write((await import("./help.ts")).help(said.help));
    return 0;
  }
  if (said.flags.version) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const idle = Object.entries(said.verb.flags).filter(([key, { idle }]) => idle && said.flags[key] !== undefined);
  if (idle.length > 0) {
    const names = idle.map(([key, { help }]) => `${said.flags[key]} (${help})`);
    process.stderr.write(`holdfast: accepted without effect: ${names.join(", ")}\n`);
  }
  return said.verb.run(said.flags, said.words);
}

/** Some mistakes come together: all of them are shown at once. */
function moreProblems(error: unknown): string[] {
  const detail = isHoldfastError(error) && typeof error.detail === "object" ? error.detail : null;
  return detail && "problems" in detail && Array.isArray(detail.problems) ? detail.problems.slice(1, 10) : [];
}

function exitCodeOf(error: unknown): number {
  if ((["invalid", "not_found", "held"] as const).some((code) => isHoldfastError(error, code))) return 2; // nothing was done
  if (isHoldfastError(error, "limit")) return 3;
  if (isHoldfastError(error, "refused")) return 4;
  return 1;
}
