// A child that is the command `holdfast tasks …`: node cli.ts tasks ls …
import { parseFlags } from "../../../src/cli/args.ts";
import { tasks } from "../../../src/cli/commands/tasks.ts";

try {
  process.exitCode = await tasks(parseFlags(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`holdfast: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
