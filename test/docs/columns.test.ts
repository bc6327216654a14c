// Pages that can be read in a terminal, and whose changes can be read as diffs: 100 columns of prose.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.join(import.meta.dirname, "../..");
const WIDEST = 100;

/** Tables, examples and what cannot be broken (a link, one long code span) may be wider. */
function tooWide(page: string): string[] {
  let fence = false;
  return fs
    .readFileSync(path.join(root, page), "utf8")
    .split("\n")
    .flatMap((line, at) => {
      if (/^\s*(```|~~~)/.test(line)) fence = !fence;
      const breaks = line
        .replaceAll(/`[^`]*`|\[[^\]]*\]\([^)\s]*\)/g, "·")
        .trim()
        .includes(" ");
      const isProse = !fence && !/^\s*[|<>#]/.test(line) && !/^\s*(```|~~~)/.test(line);
      return isProse && breaks && [...line].length > WIDEST ? [`${page}:${at + 1}`] : [];
    });
}

it("every page has at most 100 columns of prose", () => {
  const pages = execFileSync(
    "git",
    [
      "ls-files",
      "README.md",
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "docs/*.md",
      "src/**/README.md",
      "examples/**/README.md",
    ],
    { cwd: root, encoding: "utf8" },
  )
    .trim()
    .split("\n");
  expect(pages.length).toBeGreaterThan(50);
  expect(pages.flatMap(tooWide)).toEqual([]);
});
