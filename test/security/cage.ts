// Running commands as a user does: the built command line in a throw-away project with a throw-away home, commands in files, mode auto.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type CliOptions, runCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

export interface Cage {
  base: string;
  root: string;
  home: string;
  opts: CliOptions;
  write(files: Record<string, string>, mode?: number): void;
  /** What each command, or other call, said, in order. */
  run(commands: (string | BashInput | { name: string; input: object })[], ...flags: string[]): Promise<string[]>;
}

interface BashInput {
  command: string;
  run_in_background?: boolean;
}

/** `files` are below `base`: the project is `project`, the home `home`, the state home `state`. */
export function openCage(files: Record<string, string> = {}): Cage {
  const base = scratch(onTestFinished);
  const at = (name: string) => join(base, name);
  const write: Cage["write"] = (given, mode = 0o755) => {
    for (const [name, text] of Object.entries(given)) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), text, { mode });
    }
  };
  for (const dir of ["project", "home", "state"]) mkdirSync(at(dir));
  write(files);
  const opts = { cwd: at("project"), state: at("state"), env: { HOME: at("home") } };
  let runs = 0;
  const run: Cage["run"] = async (commands, ...flags) => {
    const calls = commands.map((one) => {
      if (typeof one === "string") return { name: "bash", input: { command: one } };
      return "name" in one ? one : { name: "bash", input: one };
    });
    const script = at(`script${runs++}.json`);
    writeFileSync(script, JSON.stringify({ rounds: [...calls.map((call) => ({ calls: [call] })), { text: "done" }] }));
    const args = ["-p", "go", "--model", `rehearsal:${script}`, "--permission-mode", "auto", ...flags];
    const { stdout, stderr, code } = await runCli([...args, "--output-format", "stream-json", "--verbose"], opts);
    const events = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    const results = events.filter((e) => e.type === "user").flatMap((e) => e.message.content);
    if (results.length !== commands.length) throw new Error(`exit ${code}: ${stderr}${stdout}`);
    return results.map(({ content }) => (typeof content === "string" ? content : content[0].text));
  };
  return { base, root: at("project"), home: at("home"), opts, write, run };
}
