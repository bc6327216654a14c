import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../house.ts";

const root = path.join(import.meta.dirname, "../..");
const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");

describe("the README", () => {
  it("has a library example that runs as it stands, on the built package", () => {
    const code = /```ts\n([\s\S]+?)```/.exec(readme)![1]!;
    const dir = tempDir("readme");
    fs.writeFileSync(path.join(dir, "notes.md"), "# Notes\n");
    fs.mkdirSync(path.join(dir, "node_modules"));
    fs.symlinkSync(root, path.join(dir, "node_modules/holdfast"));
    fs.writeFileSync(path.join(dir, "example.mts"), code.replaceAll("/tmp/example", path.join(dir, "state")));
    const out = execFileSync(process.execPath, ["example.mts"], { cwd: dir, encoding: "utf8" });
    expect(out).toContain("turn.ended");
    expect(out).toContain("notes.md");
    fs.rmSync(dir, { recursive: true, force: true });
  });

  it("names the two commands that CI and newcomers run", () => {
    expect(readme).toContain(
      'npm ci && npm start -- -p "Create a todo list for inspecting this repo, then list Python files"',
    );
    expect(readme).toContain("npm ci && npm test");
    expect(fs.readFileSync(path.join(root, ".ci/run"), "utf8")).toMatch(/npm ci\nnpm test/);
  });

  it("links only to pages that exist", () => {
    const pages = fs.readdirSync(path.join(root, "docs")).map((f) => `docs/${f}`);
    const missing = ["README.md", "CONTRIBUTING.md", ...pages].flatMap((page) =>
      [...fs.readFileSync(path.join(root, page), "utf8").matchAll(/\]\((?!https?:)([^)#]+)\)/g)]
        .map((m) => path.join(path.dirname(page), m[1]!))
        .filter((target) => !fs.existsSync(path.join(root, target)))
        .map((target) => `${page} → ${target}`),
    );
    expect(missing).toEqual([]);
  });
});
