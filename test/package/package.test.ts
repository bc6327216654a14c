// What is published, as somebody gets it: only the files of the tarball, types by both resolutions, the pages' examples, an old Node.
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { type Example, installPacked, type Packed, writeExamples } from "./packed.ts";

const root = path.join(import.meta.dirname, "../..");
const dir = tempDir("package");
let packed: Packed;
let examples: Example[];

beforeAll(() => {
  packed = installPacked(dir);
  examples = writeExamples(packed);
}, 600_000); // the compiler may have to make the types first
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

/** Of a program in the folder, or in another, whatever its end. */
async function run(program: string, args: string[], env: Record<string, string> = {}, cwd = dir) {
  const opts = {
    cwd,
    env: { PATH: process.env.PATH, HOME: dir, XDG_STATE_HOME: path.join(dir, "state"), ...env },
  };
  const running = promisify(execFile)(program, args, opts);
  running.child.stdin!.end(); // a prompt waits for what an open one may say
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, stdout: stdout as string, stderr: stderr as string }),
  );
}

const pages = () => packed.files.filter((file) => file.endsWith(".md"));

describe("what is published", () => {
  test("links only to what is published, and to headings that are there", () => {
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(/\s/g, "-");
    const headings = (page: string) => [...packed.text(page).matchAll(/^#+ (.*)$/gm)].map(([, text]) => slug(text!));
    const dead = pages().flatMap((page) =>
      [...packed.text(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, to, anchor]) => {
        const target = to ? path.posix.join(path.posix.dirname(page), to) : page;
        const isThere = packed.files.includes(target) && (!anchor || headings(target).includes(anchor));
        return isThere ? [] : [`${page}: ${link}`];
      }),
    );
    expect(dead).toEqual([]);
  });

  test("names only files that the repository has", () => {
    const named = /`((?:src|test|scripts|bin|bench|examples|docs|schema)\/[\w./*{},-]*)`/g;
    const missing = pages().flatMap((page) =>
      [...packed.text(page).matchAll(named)].flatMap(([, file]) => {
        const pattern = file!.replace(/\/$/, "").replace("NAME", "*");
        return fs.globSync(pattern, { cwd: root }).length > 0 ? [] : [`${page}: ${file}`];
      }),
    );
    expect(missing).toEqual([]);
  });

  test("holds no bytecode of the machine that built it, and lines that can be read", () => {
    expect(packed.files.filter((file) => /bytecode\/|\.built$|\.map$/.test(file))).toEqual([]);
    // `marked` comes minified; the monitor's page is, for whoever loads it.
    const isShort = (file: string) => /chunk-pi-tui-|^dist\/monitor\//.test(file);
    const programs = packed.files.filter((file) => /^dist\/.*\.c?js$/.test(file) && !isShort(file));
    const longest = programs.map((file) =>
      Math.max(
        ...packed
          .text(file)
          .split("\n")
          .map((line) => line.length),
      ),
    );
    expect([programs.length > 50, Math.max(...longest) < 3_000]).toEqual([true, true]);
  });
});

/** What those who write stores, models, tools, mechanisms and hosts have asked for by name. */
const PORTS = {
  holdfast: `AgentHandle AgentView Answer AppendOptions ApprovalsOptions Asked CallPart Catalogue CatalogueOptions Content Decision Delta EventDefs EventInput
    EventSchema Fact<EventDefs> Finish Fold Gate GateCall Grants HeldBy HookConfig Host Hosting Input Item Lease Leases Ledger Limits MechanismSlice ModelCall
    ModelErrorKind NewAgent NewContext Note OpenModelOptions Outstanding PermissionOptions Policy Progress ReplyPart RuleText SandboxOptions Slice
    State StoreOptions Taken TakeOptions Timelines<0> ToolRun ToolSpec TurnEndReason Verdict ViewOptions Write`,
  "holdfast/contexts": "Checkpoints ForkOrigin ImportOptions SharedData",
  "holdfast/hub": "HubOptions Include PhaseRecord TemplateKind Until Variable",
  "holdfast/testing": "Framework OpenOptions ProviderName StoreUnderTest",
};

describe("the package in a program", () => {
  test("compiles: every example of the pages, and every port by its name, for Node and for bundlers", async () => {
    const named = Object.entries(PORTS).map(([door, text], i) => {
      const types = text.split(/\s+/);
      const names = types.map((type) => type.replace(/<.*/, ""));
      return `import type { ${names.join(", ")} } from "${door}";\nexport type Ports${i} = [${types.join(", ")}];\n`;
    });
    fs.writeFileSync(path.join(dir, "pages/ports.ts"), named.join(""));
    const common = { target: "esnext", lib: ["esnext"], types: ["node"], strict: true, noUncheckedIndexedAccess: true };
    const rest = { noEmit: true, allowImportingTsExtensions: true, verbatimModuleSyntax: true };
    const kinds = {
      node: { module: "nodenext", skipLibCheck: false },
      bundler: { module: "esnext", moduleResolution: "bundler", skipLibCheck: true, exactOptionalPropertyTypes: true },
    };
    for (const [name, kind] of Object.entries(kinds)) {
      const config = { compilerOptions: { ...common, ...rest, ...kind }, include: ["pages"] };
      fs.writeFileSync(path.join(dir, `tsconfig.${name}.json`), JSON.stringify(config));
    }
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const compiled = await run(process.execPath, [tsc, "-b", "tsconfig.node.json", "tsconfig.bundler.json"]);
    expect([compiled.stdout, compiled.code]).toEqual(["", 0]);
  });

  test("runs: every example of the pages, as it stands", async () => {
    const gives = (values: object): ScriptRound => ({ calls: [{ name: "export_to_context", input: { values } }] });
    const plays: [RegExp, ...ScriptRound[]][] = [
      [/Which files read/, gives({ found: ["a.ts"] }), { text: "One file." }],
      [/Collect facts on rivers/, gives({ facts: ["They flow."] }), { text: "Collected." }],
      [/Write it\./, gives({ essay: "They flow." }), { text: "Written." }],
      [
        /notes\.txt/,
        { calls: [{ name: "write_file", input: { path: "notes.txt", content: "tests" } }] },
        { text: "Noted." },
      ],
    ];
    const server = await startModelServer({
      script({ body, round }) {
        const play = plays.find(([prompt]) => prompt.test(JSON.stringify(body.messages[0])));
        return play?.[round + 1] as ScriptRound;
      },
    });
    const here = examples.filter(({ name }) => !name.startsWith("docs/tutorial.md")); // it is killed, below
    const lines = here.flatMap(({ name, file }, i) => [
      `fs.mkdirSync("run${i}"); process.chdir("run${i}"); fs.writeFileSync("readme.md", "# A page");`,
      `console.log(${JSON.stringify(`# ${name}`)}); await import(${JSON.stringify(file)}); process.chdir("..");`,
    ]);
    fs.writeFileSync(path.join(dir, "all.mjs"), `import fs from "node:fs";\n${lines.join("\n")}`);
    const env = { ANTHROPIC_BASE_URL: server.anthropicUrl, ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY };
    const { stdout, stderr, code } = await run(process.execPath, ["all.mjs"], env);
    await server.close();
    expect([stderr, code]).toEqual(["", 0]);
    const said = Object.fromEntries(
      stdout
        .split(/^# (?=\S+\.md )/m)
        .slice(1)
        .map((part) => part.split(/\n([\s\S]*)/, 2)),
    );
    const only = (text: string) => expect.stringContaining(text);
    expect(said).toEqual({
      "README.md 1": only("turn.ended\n1 Markdown file:\n- readme.md\n"),
      "docs/approvals.md 1": expect.stringMatching(/^apr_… write_file \{"path":"notes\.txt".*: .*\nNoted\.\n$/),
      "docs/contexts.md 1": "[ 'a.ts' ]\n",
      "docs/contexts.md 2": "", // these are functions: test/contexts/examples.test.ts calls them
      "docs/contexts.md 3": only("found belongs to collect.1, who wrote it first"),
      "docs/contexts.md 4": "",
      "docs/contexts.md 5": "",
      "docs/contexts.md 6": "",
      "docs/contexts.md 7": "",
      "docs/compaction.md 1": "",
      "docs/replay.md 1": "",
      "docs/hub.md 1": "One file. [ 'a.ts' ]\n",
      "docs/ledger.md 1": "it is alice's\n1\n",
      "docs/library.md mechanism.ts": expect.stringMatching(
        /^Refused: .*sell acts outside the project: a person decides.*\ntea is sold\nRefused: the shop itself is not for sale\n$/,
      ),
      "docs/library.md model.ts": "",
      "docs/library.md store.ts": "1\n",
      "docs/library.md tool.ts": "tea costs 3 €\n",
      "docs/mcp.md 1": "",
      "docs/templates.md 1": expect.stringMatching(/name: 'context\.topic',[\s\S]*Review dates for everybody\./),
      "docs/tools.md 1": "",
      "docs/workflows.md 1": expect.stringMatching(/^done They flow\.\nessay · done · [\s\S]*write done/),
    });
  });

  test("of docs/tutorial.md, killed in its command and started again, it prints what the page shows", async () => {
    const page = packed.text("docs/tutorial.md");
    const [mechanism, program] = examples.filter(({ name }) => name.startsWith("docs/tutorial.md"));
    const cwd = path.dirname(program!.file);
    const env = { PATH: process.env.PATH, HOME: dir };
    const words = ["agent.ts"];
    expect(page).toContain("$ node agent.ts &\n");

    const child = spawn(process.execPath, words, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    const exited = new Promise((resolve) => child.once("close", (_, signal) => resolve(signal)));
    let first = "";
    child.stdout.on("data", (text) => {
      first += String(text);
    });
    // Its intent is durable before the command begins: a kill in between would leave nothing to adopt.
    while (fs.globSync("state/jobs/job_*/started", { cwd }).length === 0) await sleep(20);
    child.kill("SIGKILL");
    expect(await exited).toBe("SIGKILL");
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd, env });

    const shown = /^```console\n([\s\S]*?)^```$/m.exec(page)![1]!;
    const printed = shown.split("\n").filter((line) => !line.startsWith("$ "));
    expect(`${first}${stdout}`.split("\n")).toEqual(printed);
    expect(fs.readFileSync(mechanism!.file, "utf8").replace("export {};\n", "").trimEnd().split("\n").length).toBe(30);
  });

  test("says who threw: an uncaught error shows names, and no line that nobody can read", async () => {
    fs.writeFileSync(path.join(dir, "fails.mjs"), 'import { createHarness } from "holdfast";\ncreateHarness({});\n');
    const { stderr } = await run(process.execPath, ["fails.mjs"]);
    expect(stderr).toMatch(/HoldfastError: createHarness needs model/);
    expect(stderr).toMatch(/at checkHarness .*\n.*at createHarness /);
    expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(300);
  });
});

/** Notes for each file whether there was bytecode for it, and whether V8 took it. */
const SPY = `
const vm = require("node:vm");
const path = require("node:path");
const had = {};
vm.Script = class extends vm.Script {
  constructor(source, opts) {
    super(source, opts);
    had[path.basename(opts.filename).replace(/-.{8}\\.cjs$/, "")] = opts.cachedData !== undefined && !this.cachedDataRejected;
  }
};
process.on("exit", () => require("node:fs").writeFileSync("had.json", JSON.stringify(had)));
`;

/** Counts what threads answered. */
const ANSWERS = `
let answers = 0;
process.on("worker", (worker) => worker.on("message", () => answers++));
process.on("exit", () => require("node:fs").writeFileSync(process.env.ANSWERS, String(answers)));
`;

describe("the command line of an installed package", () => {
  const bin = () => path.join(dir, "node_modules/holdfast/bin/holdfast.js");

  test("keeps bytecode in the user's cache folder, and takes it from there as long as the files are the same; --debug shows names", async () => {
    fs.writeFileSync(path.join(dir, "spy.cjs"), SPY);
    const env = { XDG_CACHE_HOME: path.join(dir, "cache") };
    const start = async () => {
      const { code, stderr } = await run(
        process.execPath,
        ["-r", "./spy.cjs", bin(), "jobs", "kill", "no", "--debug"],
        env,
      );
      const had = JSON.parse(fs.readFileSync(path.join(dir, "had.json"), "utf8"));
      return {
        code,
        stack: /^ +at \w+ .*chunk-jobs.*\n(?:.*\n)* +at async Module\.main /m.test(stderr),
        had: [...new Set(Object.values(had))],
        files: Object.keys(had),
      };
    };
    const first = await start();
    expect(first).toEqual({
      code: 2,
      stack: true,
      had: [false],
      files: expect.arrayContaining(["main.cjs", "chunk-jobs"]),
    });
    expect(await start()).toEqual({ ...first, had: [true] });
    // Another build: what main says, its length and its time are all that tell.
    const main = path.join(dir, "node_modules/holdfast/dist/cli/main.cjs");
    const { atime, mtime } = fs.statSync(main);
    fs.writeFileSync(main, fs.readFileSync(main, "utf8").replace("// src", "// SRC"));
    fs.utimesSync(main, atime, mtime);
    expect(await start()).toEqual(first);
    expect(fs.readdirSync(path.join(dir, "cache/holdfast/bytecode")).length).toBe(2);
  });

  test("reads very many files with a second thread, as the library does", async () => {
    const project = path.join(dir, "many");
    fs.mkdirSync(project);
    for (let i = 0; i < 1_700; i++) fs.writeFileSync(path.join(project, `f${i}`), `content ${i}`);
    fs.writeFileSync(path.join(dir, "answers.cjs"), ANSWERS);
    fs.writeFileSync(
      path.join(dir, "library.mjs"),
      `import { projectFiles } from "holdfast/contexts";
      const { files } = await projectFiles({ root: process.cwd(), dir: ${JSON.stringify(path.join(dir, "many-files"))} }).save();
      console.log(files);`,
    );
    const script: ScriptRound[] = [
      { calls: [{ name: "bash", input: { command: "ls | wc -l" } }] },
      { text: "Counted." },
    ];
    const server = await startModelServer({ script });
    const env = { ANTHROPIC_BASE_URL: server.anthropicUrl, ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY };
    const prompt = ["-p", "count", "--model", "anthropic/claude-sonnet-4-5", "--permission-mode", "bypass"];
    const said = await Promise.all(
      [[bin(), ...prompt], [path.join(dir, "library.mjs")]].map(async (args, i) => {
        const count = path.join(dir, `answers${i}`);
        const watched = ["-r", path.join(dir, "answers.cjs"), ...args];
        const { code, stdout } = await run(process.execPath, watched, { ...env, ANSWERS: count }, project);
        return [code, stdout.trim(), Number(fs.readFileSync(count, "utf8")) > 0];
      }),
    );
    await server.close();
    const hasCores = os.availableParallelism() > 1;
    expect(said).toEqual([
      [0, expect.stringContaining("Counted."), hasCores],
      [0, "1700", hasCores],
    ]);
  });

  test("on an old Node says in one line which one it takes and how to get it; so do import and require", async () => {
    const { program, args } = await oldNode();
    const needs =
      /^holdfast needs Node 24\.15 or newer, this is v\d+\.\d+\.\d+: install a current one \(.*nodejs\.org\) and try again$/;
    expect(JSON.parse(packed.text("package.json")).engines).toEqual({ node: ">=24.15.0" });
    const cli = await run(program, [...args, bin(), "--version"]);
    expect([cli.code, cli.stdout, cli.stderr.trimEnd()]).toEqual([2, "", expect.stringMatching(needs)]);
    fs.writeFileSync(
      path.join(dir, "both.cjs"),
      `const say = (error) => console.log(error.message);
      (async () => {
        for (const door of ["holdfast", "holdfast/contexts", "holdfast/hub", "holdfast/testing"]) {
          if (door === "holdfast") await import(door).catch(say); // for a second one an old Node ends itself, with the same words
          try { require(door); } catch (error) { say(error); }
        }
      })();`,
    );
    const { stdout } = await run(program, [...args, "both.cjs"]);
    expect(stdout.trimEnd().split("\n")).toEqual(Array(5).fill(expect.stringMatching(needs)));
  });
});

/** The machine's own, where it is old; else this one, made to look so. */
async function oldNode(): Promise<{ program: string; args: string[] }> {
  const PATH = process.env.PATH!.split(path.delimiter).filter((one) => !one.includes("node_modules"));
  const major = async (program: string) => Number(/\d+/.exec((await run(program, ["--version"])).stdout)?.[0] ?? 99);
  for (const program of PATH.map((one) => path.join(one, "node"))) {
    if (fs.existsSync(program) && (await major(program)) < 24) return { program, args: [] };
  }
  const old = '{ ...process.versions, node: "20.20.2" }';
  const text = `Object.defineProperty(process, "versions", { value: ${old} }); Object.defineProperty(process, "version", { value: "v20.20.2" });`;
  fs.writeFileSync(path.join(dir, "old.cjs"), text);
  return { program: process.execPath, args: ["-r", "./old.cjs"] };
}
