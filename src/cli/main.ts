// Owns the command line's front door: which command, which exit code, one line for each error.
import { HoldfastError, isHoldfastError, messageOf } from "../ledger/error.ts";
import { VERSION } from "../version.ts";
import { type Flags, parseFlags } from "./args.ts";
import { watchStreams } from "./streams.ts";

const COMMANDS: Record<string, () => Promise<(flags: Flags) => Promise<number>>> = {
  contexts: async () => (await import("./commands/contexts.ts")).contexts,
  jobs: async () => (await import("./commands/jobs.ts")).jobs,
  approve: async () => (await import("./commands/approve.ts")).approve,
  deny: async () => (await import("./commands/approve.ts")).approve,
  permissions: async () => (await import("./commands/permissions.ts")).permissions,
  agents: async () => (await import("./commands/agents.ts")).agents,
  cron: async () => (await import("./commands/cron.ts")).cron,
  tasks: async () => (await import("./commands/tasks.ts")).tasks,
  team: async () => (await import("./commands/team.ts")).team,
  worker: async () => (await import("./commands/worker.ts")).worker,
  worktrees: async () => (await import("./commands/worktrees.ts")).worktrees,
  workflow: async () => (await import("./commands/workflow.ts")).workflow,
  project: async () => (await import("./commands/project.ts")).project,
  trust: async () => (await import("./commands/trust.ts")).trust,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
};

export async function main(argv: string[]): Promise<number> {
  const streams = watchStreams();
  let debug = argv.includes("--debug");
  try {
    const flags = parseFlags(argv);
    debug = flags.debug;
    const code = await dispatch(flags);
    await streams.drained();
    return code === 0 && streams.lost() ? 1 : code;
  } catch (error) {
    const hint = isHoldfastError(error, "damaged") ? " (holdfast contexts verify --repair)" : "";
    process.stderr.write(`holdfast: ${messageOf(error).replace(/\s*\n\s*/g, " ")}${hint}\n`);
    for (const more of moreProblems(error)) process.stderr.write(`holdfast: ${more}\n`);
    if (debug) process.stderr.write(`${(error as Error).stack}\n`);
    return exitCodeOf(error);
  }
}

async function dispatch(flags: Flags): Promise<number> {
  if (flags.version) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (flags.help) {
    process.stdout.write((await import("./help.ts")).HELP);
    return 0;
  }
  const load = flags.print ? undefined : COMMANDS[flags.words[0] ?? ""];
  if (load) return (await load())(flags);
  if (flags.print || flags.inputFormat === "stream-json" || flags.continue || flags.resume !== undefined) {
    return (await import("./headless.ts")).headless(flags);
  }
  throw new HoldfastError(
    "invalid",
    'the interactive terminal is not there yet: use holdfast -p "what to do" (see `holdfast --help`)',
  );
}

/** Some mistakes come together: all of them are shown at once. */
function moreProblems(error: unknown): string[] {
  const { problems } = ((error as HoldfastError).detail ?? {}) as { problems?: string[] };
  return Array.isArray(problems) ? problems.slice(1, 10) : [];
}

function exitCodeOf(error: unknown): number {
  if (isHoldfastError(error, "invalid") || isHoldfastError(error, "not_found")) return 2;
  if (isHoldfastError(error, "limit")) return 3;
  if (isHoldfastError(error, "refused")) return 4;
  return 1;
}
