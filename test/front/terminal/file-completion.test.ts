// Files for `@` in a folder of its own, by the real ripgrep.
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFileCompletion } from "../../../src/front/terminal/file-completion.ts";
import { tempDir } from "../../house.ts";

const never = new AbortController().signal;
let root: string;

const write = (name: string): void => {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), "");
};

beforeAll(() => {
  root = tempDir("files");
  for (const name of [
    "README.md",
    "src/front/terminal/prompt-editor.ts",
    "src/front/terminal/view.ts",
    "src/editor.ts",
    "test/prompt.test.ts",
    "out/prompt.js",
    "notes of today.md",
    "with\u001b[31mescape.ts",
    ".github/ci.yml",
  ])
    write(name);
  fs.writeFileSync(path.join(root, ".gitignore"), "out/\n");
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

const open = (more: { most?: number; keptMs?: number; root?: string } = {}) =>
  createFileCompletion({ root, signal: never, ...more });

describe("files for @", () => {
  it("are those that git knows, folders too, and none whose name cannot be shown", async () => {
    const all = await open().files("", never);
    expect(all.toSorted()).toEqual([
      ".github/",
      ".github/ci.yml",
      ".gitignore",
      "README.md",
      "notes of today.md",
      "src/",
      "src/editor.ts",
      "src/front/",
      "src/front/terminal/",
      "src/front/terminal/prompt-editor.ts",
      "src/front/terminal/view.ts",
      "test/",
      "test/prompt.test.ts",
    ]);
  });

  it("fit what was typed, letters left out, names before folders", async () => {
    const { files } = open();
    expect(await files("prompt", never)).toEqual(["test/prompt.test.ts", "src/front/terminal/prompt-editor.ts"]);
    expect((await files("editor", never))[0]).toBe("src/editor.ts");
    expect(await files("src/frt/vw", never)).toEqual(["src/front/terminal/view.ts"]);
    expect((await files("term", never))[0]).toBe("src/front/terminal/");
    expect(await files("nothing like it", never)).toEqual([]);
  });

  it("are listed once for some seconds, and anew after that", async () => {
    const kept = open();
    const fresh = open({ keptMs: -1 });
    await Promise.all([kept.files("", never), fresh.files("", never)]);
    write("later.txt");
    expect(await kept.files("later", never)).toEqual([]);
    expect(await fresh.files("later", never)).toEqual(["later.txt"]);
    fs.rmSync(path.join(root, "later.txt"));
  });

  it("are at most so many", async () => {
    const found = await open({ most: 3 }).files("", never);
    expect(found.filter((file) => !file.endsWith("/"))).toHaveLength(3);
  });

  it("are none after the signal, and none of a folder that is not there", async () => {
    const { files } = open();
    expect(await files("", AbortSignal.abort())).toEqual([]);
    const leaving = new AbortController();
    const asked = files("prompt", leaving.signal);
    leaving.abort();
    expect(await asked).toEqual([]);
    expect(await files("prompt", never)).toHaveLength(2);
    expect(await open({ root: path.join(root, "gone") }).files("", never)).toEqual([]);
  });
});
