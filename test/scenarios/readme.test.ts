import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { bin, runProgram, startProgram } from "../cli/cli.ts";
import { tempDir } from "../house.ts";

const root = path.join(import.meta.dirname, "../..");
const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");

/** What differs from run to run: ids, times, places, how much text a prompt has. */
const masked = (text: string): string =>
  text
    .replaceAll(/ctx_\w+/g, "ctx_ID")
    .replaceAll(/(?<=--cwd )\S+/g, "DIR")
    .replaceAll(/\d+(?:\.\d+)? m?s\b/g, "TIME")
    .replaceAll(/[\d.]+k? tokens in, \d+ out/g, "TOKENS")
    .replaceAll(/ +/g, " ");

describe("the README", () => {
  it("names the two commands that CI and newcomers run", () => {
    expect(readme).toContain(
      'npm ci && npm start -- -p "Create a todo list for inspecting this repo, then use a subtask to find the test framework of this project"',
    );
    expect(readme).toContain("npm ci && npm test");
    expect(fs.readFileSync(path.join(root, ".ci/run"), "utf8")).toMatch(/npm ci\nnpm test/);
  });

  it("shows kill -9 as it really looks: each command of its transcript prints what stands there", async () => {
    const shown = /^~~~console\n([\s\S]*?)^~~~$/m.exec(readme)![1]!;
    const parts = shown.split(/^\$ /m).slice(1);
    const commands = parts.map((part) => part.split("\n")[0]!);
    expect(commands.slice(1)).toEqual(["sleep 2; kill -9 $!", "holdfast contexts ls", "holdfast -p -c"]);
    const home = tempDir("readme");
    const [cwd, programs, state] = ["app", "bin", "state"].map((name) => path.join(home, name)) as [
      string,
      string,
      string,
    ];
    for (const dir of [cwd, programs]) fs.mkdirSync(dir);
    const program = path.join(programs, "holdfast");
    fs.writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 });
    const opts = { cwd, state, env: { PATH: `${programs}:${process.env.PATH}`, HOME: home } };
    const shell = (command: string) => ["-c", `exec 2>&1; ${command}`];

    const { child, exited } = startProgram("bash", shell(commands[0]!.replace(/^(.*) &$/, "exec $1")), opts);
    // By hand it is two seconds later; here as soon as the command runs.
    while (fs.globSync("**/jobs/job_*/started", { cwd: state }).length === 0) await sleep(20);
    child.kill("SIGKILL");
    const printed = [(await exited).stdout, ""];
    for (const command of commands.slice(2)) printed.push((await runProgram("bash", shell(command), opts)).stdout);
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    expect(printed.map(masked)).toEqual(parts.map((part) => masked(part.slice(part.indexOf("\n") + 1))));
  });
});
