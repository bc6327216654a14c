// Each room of src/ says in a README what it owns and where to begin; what these pages name exists, and their examples do what they say.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tempDir } from "./house.ts";

const root = path.join(import.meta.dirname, "..");
const src = path.join(root, "src");

const foldersOf = (room: string): string[] =>
  fs
    .readdirSync(path.join(src, room), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.posix.join(room, entry.name));

const rooms = (): string[] => [...foldersOf(""), ...foldersOf("mechanisms"), ...foldersOf("front")];

const textOf = (room: string): string => {
  const page = path.join(src, room, "README.md");
  return fs.existsSync(page) ? fs.readFileSync(page, "utf8") : "";
};

test("each room has a README of at most 40 lines: what it owns, what not, where to begin, an example", () => {
  const missing = rooms().flatMap((room) => {
    const text = textOf(room);
    const lines = text.trimEnd().split("\n");
    const wanted = [`# ${path.basename(room)}\n`, "- **Not here:** ", "- **Begin with** ", "- **Proved by** ", "\n```"];
    return [
      ...wanted.filter((part) => !text.includes(part)).map((part) => `${room}: no ${JSON.stringify(part)}`),
      ...(lines.length > 40 ? [`${room}: ${lines.length} lines`] : []),
      ...lines.filter((line) => line.length > 100).map((line) => `${room}: too long: ${line}`),
    ];
  });
  expect(missing).toEqual([]);
});

test("a room's README names only files that exist", () => {
  const missing = rooms().flatMap((room) =>
    [...textOf(room).matchAll(/`([\w./-]*(?:\/|\.(?:ts|md|sh|lua|sql|json)))`/g)].flatMap(([, name]) => {
      const isRoots = /^(?:test|docs|schema|examples|scripts)\//.test(name!);
      const pattern = path.join(isRoots ? root : path.join(src, room), name!.replace("NAME", "*"));
      return fs.globSync(pattern).length > 0 ? [] : [`${room}: ${name}`];
    }),
  );
  expect(missing).toEqual([]);
});

/** What belongs to no one room: these go through all of them. */
const THROUGH_ALL = ["browser", "crash", "docs", "package", "scenarios", "security"];

/** `loop/loop.ts` and `mechanisms/jobs/index.ts` are of the rooms `loop` and `jobs`; `harness.ts` is of none. */
const roomOf = (file: string): string | undefined => {
  const [first, second, third] = file.split("/");
  return first === "mechanisms" && third !== undefined ? second : second && first;
};

test("tests stand in the folder of the room that they test, without mechanisms/ before it", () => {
  const folders = [...foldersOf(""), ...foldersOf("mechanisms")].map((room) => path.basename(room));
  expect(folders.filter((name, i) => folders.indexOf(name) !== i)).toEqual([]);
  const tests = fs.globSync("*/**/*.ts", { cwd: path.join(root, "test") });
  const elsewhere = tests.flatMap((file) => {
    const folder = file.split(path.sep)[0]!;
    if (THROUGH_ALL.includes(folder)) return [];
    if (!folders.includes(folder)) return [`test/${file}: no such room`];
    if (!file.endsWith(".test.ts")) return [];
    // Who uses no house, command line or world of other tests tests what is imported.
    const text = fs.readFileSync(path.join(root, "test", file), "utf8");
    const imported = [...text.matchAll(/ from "(\.{1,2}\/[^"]+)"/g)].map(([, name]) => name!);
    const rooms = new Set(
      imported.map((name) => roomOf(/^(?:\.\.\/)+src\/(.*)$/.exec(name)?.[1] ?? "") ?? "other tests"),
    );
    const only = rooms.size === 1 ? [...rooms][0]! : "other tests";
    return only === folder || only === "other tests" ? [] : [`test/${file} tests ${only} alone`];
  });
  expect(elsewhere).toEqual([]);
});

/** Each example is a module beside the room; what a line `console.log(…); // …` says is what it must print. */
test("the examples of the rooms run, and print what they say", async () => {
  const dir = tempDir("rooms");
  const expected: Record<string, string[]> = {};
  const lines = rooms().flatMap((room, i) => {
    const code = /^```ts\n([\s\S]*?)^```$/m.exec(textOf(room))?.[1];
    if (code === undefined) return [];
    expected[room] = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, said]) => said!);
    const file = path.join(dir, `${i}.ts`);
    const at = (to: string) => JSON.stringify(path.join(src, room, to));
    fs.writeFileSync(
      file,
      code.replaceAll(/(?<= from )"(\.{1,2}\/[^"]+)"/g, (_, to: string) => at(to)),
    );
    return [
      `fs.mkdirSync("in${i}"); process.chdir("in${i}"); room = ${JSON.stringify(room)};`,
      `await import(${JSON.stringify(file)}); process.chdir("..");`,
    ];
  });
  const head = `import fs from "node:fs"; import { formatWithOptions } from "node:util";
    let room; const printed = {};
    console.log = (...all) => (printed[room] ??= []).push(formatWithOptions({ breakLength: Infinity }, ...all));`;
  const end = "process.stdout.write(JSON.stringify(printed));";
  fs.writeFileSync(path.join(dir, "all.mjs"), [head, ...lines, end].join("\n"));
  const { stdout } = await promisify(execFile)(process.execPath, ["all.mjs"], { cwd: dir });
  fs.rmSync(dir, { recursive: true, force: true });
  expect(Object.keys(expected).length).toBeGreaterThan(30);
  expect(JSON.parse(stdout)).toEqual(expected);
});

test("docs/README.md leads to every page", () => {
  const index = fs.readFileSync(path.join(root, "docs/README.md"), "utf8");
  const pages = fs.readdirSync(path.join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([]);
});
