// Holdfast itself lies in the project, or is the project: its commands do not change what its next start runs.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bin, runProgram } from "../cli/cli.ts";
import { works } from "../jobs/sandboxed.ts";
import { openCage } from "./cage.ts";

const PACKAGE = join(bin, "../..");
const install = (to: string) => {
  for (const name of ["bin", "dist", "package.json"]) cpSync(join(PACKAGE, name), join(to, name), { recursive: true });
};

function scriptOf(dir: string, command: string): string[] {
  const file = join(dir, "script.json");
  const calls = [{ name: "bash", input: { command } }];
  writeFileSync(file, JSON.stringify({ rounds: [{ calls }, { text: "done" }] }));
  return ["-p", "go", "--model", `rehearsal:${file}`, "--permission-mode", "auto"];
}

test.runIf(works)("installed in the project it cannot be changed, moved away or put another in its place", async () => {
  const attack = [
    "echo 'console.log(\"PWNED\")' >> node_modules/holdfast/dist/cli/main.cjs",
    "echo x >> node_modules/@vscode/ripgrep/bin/rg",
    "mv node_modules/holdfast node_modules/away; mv node_modules away; mv node_modules/.bin node_modules/bin2",
    "rm node_modules/.bin/holdfast; printf '#!/bin/sh\\necho PWNED\\n' > node_modules/.bin/holdfast; chmod +x node_modules/.bin/holdfast",
    "mkdir node_modules/other && echo installed > node_modules/other/index.js",
  ];
  const { base, root, opts } = openCage({
    "project/attack.sh": attack.join("\n"),
    "project/node_modules/@vscode/ripgrep/bin/rg": "rg",
  });
  const store = join(root, "node_modules");
  install(join(store, "holdfast"));
  mkdirSync(join(store, ".bin"));
  symlinkSync("../holdfast/bin/holdfast.js", join(store, ".bin/holdfast"));
  const own = join(store, ".bin/holdfast");
  const ran = await runProgram(process.execPath, [own, ...scriptOf(base, "bash attack.sh; ls > seen")], opts);
  expect([ran.code, ran.stderr.includes("no sandbox")]).toEqual([0, false]);
  expect(readdirSync(root).sort()).toEqual(["attack.sh", "node_modules", "seen"]);
  expect(readdirSync(store).sort()).toEqual([".bin", "@vscode", "holdfast", "other"]);
  expect(readFileSync(join(store, "@vscode/ripgrep/bin/rg"), "utf8")).toBe("rg");
  expect(await runProgram(own, ["--version"], opts)).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining("PWNED"),
  });
});

test.runIf(works)(
  "working on Holdfast with itself, what would run next is read-only until the user gives the folder to commands",
  async () => {
    const { base, root, opts, write } = openCage({
      "project/src/a.ts": "",
      "project/change.sh": "echo '// changed' | tee -a src/a.ts bin/holdfast.js dist/new",
    });
    install(root);
    const own = join(root, "bin/holdfast.js");
    const text = (name: string) => readFileSync(join(root, name), "utf8");
    const before = text("bin/holdfast.js");
    const run = () => runProgram(process.execPath, [own, ...scriptOf(base, "bash change.sh")], opts);
    expect((await run()).code).toBe(0);
    expect([text("src/a.ts"), text("bin/holdfast.js")]).toEqual(["// changed\n", before]);
    const doctor = await runProgram(process.execPath, [own, "doctor", "--json"], opts);
    const { findings } = JSON.parse(doctor.stdout);
    expect(findings).toContainEqual({
      what: "install",
      ok: true,
      says: expect.stringContaining("bin and dist are read-only for its commands"),
      do: expect.stringContaining('"sandbox": { "writable"'),
    });
    write({ "home/.config/holdfast/settings.json": JSON.stringify({ sandbox: { writable: [root] } }) });
    expect((await run()).code).toBe(0);
    expect([text("bin/holdfast.js"), text("dist/new")]).toEqual([`${before}// changed\n`, "// changed\n"]);
  },
);
