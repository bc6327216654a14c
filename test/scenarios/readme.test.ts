import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.join(import.meta.dirname, "../..");
const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");

describe("the README", () => {
  it("names the two commands that CI and newcomers run", () => {
    expect(readme).toContain(
      'npm ci && npm start -- -p "Create a todo list for inspecting this repo, then use a subtask to find the test framework of this project"',
    );
    expect(readme).toContain("npm ci && npm test");
    expect(fs.readFileSync(path.join(root, ".ci/run"), "utf8")).toMatch(/npm ci\nnpm test/);
  });
});
