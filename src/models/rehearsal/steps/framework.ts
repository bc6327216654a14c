// The step that finds a project's test framework: the manifests first, then a search for known names, with the evidence.
import { call, type PlanStep, type Stage, together } from "../plan.ts";
import type { ResultOutcome } from "../situation.ts";
import { pathsOf } from "./list.ts";
import { fileLines, firstLine, linesOf } from "./output.ts";

const MANIFESTS = [
  "package.json",
  "pyproject.toml",
  "setup.cfg",
  "requirements.txt",
  "Cargo.toml",
  "go.mod",
  "Gemfile",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "composer.json",
];

/** Where a framework comes with the language. */
const BUILT_IN: Record<string, string> = { "Cargo.toml": "cargo test", "go.mod": "go test" };

const KNOWN: { name: string; sign: string }[] = [
  { name: "Vitest", sign: "vitest" },
  { name: "Jest", sign: "jest" },
  { name: "Mocha", sign: "mocha" },
  { name: "Jasmine", sign: "jasmine" },
  { name: "AVA", sign: '"ava"' },
  { name: "node:test", sign: "node --test|node:test" },
  { name: "bun test", sign: "bun test" },
  { name: "Playwright", sign: "@playwright/test" },
  { name: "pytest", sign: "pytest" },
  { name: "unittest", sign: "unittest" },
  { name: "cargo test", sign: "cargo test" },
  { name: "go test", sign: "go test" },
  { name: "RSpec", sign: "rspec" },
  { name: "minitest", sign: "minitest" },
  { name: "JUnit", sign: "junit" },
  { name: "TestNG", sign: "testng" },
  { name: "PHPUnit", sign: "phpunit" },
];

const READ_AT_MOST = 3;

interface Found {
  name: string;
  evidence: string[];
}

export function* findFramework(stage: Stage): PlanStep {
  const { words } = stage;
  const globbed = yield* call(stage, "glob", { pattern: `**/{${MANIFESTS.join(",")}}` }, words.sayManifests);
  const manifests = globbed.isError ? [] : nearest(pathsOf(globbed.text).paths);
  const looks = manifests.map((path) => call(stage, "read_file", { path }));
  const pattern = KNOWN.map((k) => k.sign).join("|");
  const asked = [call(stage, "grep", { pattern }, words.sayEvidence), ...looks];
  const [searched, ...read] = yield* together(asked);
  const found = inManifests(manifests, read);
  const mentioned = searched!.isError ? [] : mentions(searched!.text);
  // Without a word in a manifest, what the files mention most is the best guess there is.
  const answer = found.length > 0 ? found : mentioned.slice(0, 1);
  const also = mentioned.filter((m) => !answer.some((a) => a.name === m.name)).map((m) => m.name);
  const failures = [globbed, searched!, ...read].filter((o) => o.isError).map((o) => firstLine(o.text));
  const text = [
    answer.length > 0 ? words.framework(answer.map((f) => f.name).join(", ")) : words.noFramework,
    ...(answer.length > 0
      ? [words.evidence, ...answer.flatMap((f) => f.evidence.slice(0, 3).map((e) => `- ${e}`))]
      : []),
    ...(also.length > 0 ? [words.alsoSeen(also.join(", "))] : []),
    manifests.length > 0 ? words.lookedAt(manifests.join(", ")) : words.noManifest,
    ...new Set(failures),
  ];
  return { text: text.join("\n"), ok: !globbed.isError || answer.length > 0 };
}

/** The manifests nearest to the root, in the order of the table; those of examples further down say nothing of the project. */
function nearest(paths: string[]): string[] {
  const depth = (path: string) => path.split("/").length;
  const rank = (path: string) => MANIFESTS.indexOf(path.slice(path.lastIndexOf("/") + 1));
  const top = Math.min(...paths.map(depth));
  return paths
    .filter((path) => depth(path) === top)
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .slice(0, READ_AT_MOST);
}

function inManifests(paths: string[], read: ResultOutcome[]): Found[] {
  const found = new Map<string, string[]>();
  const add = (name: string, evidence: string) => found.set(name, [...(found.get(name) ?? []), evidence]);
  for (const [i, path] of paths.entries()) {
    if (read[i]!.isError) continue;
    const { from, lines } = fileLines(read[i]!.text);
    for (const [n, line] of lines.entries()) {
      for (const { name, sign } of KNOWN) {
        if (new RegExp(sign, "i").test(line)) add(name, `${path}:${from + n}: ${line.trim().slice(0, 120)}`);
      }
    }
    const builtIn = BUILT_IN[path.slice(path.lastIndexOf("/") + 1)];
    if (builtIn) add(builtIn, path);
  }
  return [...found].map(([name, evidence]) => ({ name, evidence }));
}

function mentions(text: string): Found[] {
  const lines = linesOf(text).filter((line) => !/^\W*no (?:match|result|files?)/i.test(line));
  return KNOWN.map(({ name, sign }) => ({
    name,
    evidence: lines.filter((line) => new RegExp(sign, "i").test(line)).map((line) => line.trim().slice(0, 160)),
  }))
    .filter((f) => f.evidence.length > 0)
    .sort((a, b) => b.evidence.length - a.evidence.length);
}
