// The step that finds a project's test framework: the manifests first, then a search for known names, with the evidence.
import { call, type Stage, type Step, together } from "../plan.ts";
import { fileLines, firstLine, foundIn } from "./results.ts";

const MANIFESTS =
  "package.json pyproject.toml setup.cfg requirements.txt Cargo.toml go.mod Gemfile pom.xml build.gradle build.gradle.kts composer.json".split(
    " ",
  );

/** Where a framework comes with the language. */
const BUILT_IN: Record<string, string> = { "Cargo.toml": "cargo test", "go.mod": "go test" };

/** How they show in a file where that is not their name. */
const SIGNS: Record<string, string> = {
  AVA: '"ava"',
  "node:test": "node --test|node:test",
  Playwright: "@playwright/test",
};
const KNOWN =
  "Vitest,Jest,Mocha,Jasmine,AVA,node:test,bun test,Playwright,pytest,unittest,cargo test,go test,RSpec,minitest,JUnit,TestNG,PHPUnit".split(
    ",",
  );
const signOf = (name: string): string => SIGNS[name] ?? name.toLowerCase();

const READ_AT_MOST = 3;

export function* findFramework(stage: Stage): Step {
  const { say } = stage;
  const globbed = yield* call(stage, "glob", { pattern: `**/{${MANIFESTS.join(",")}}` });
  const manifests = globbed.isError ? [] : nearest(foundIn(say, globbed.text).found);
  const looks = manifests.map((path) => call(stage, "read_file", { path }));
  const search = call(stage, "grep", { pattern: KNOWN.map(signOf).join("|") });
  const [searched, ...read] = yield* together([search, ...looks]);
  const named = evidenceIn(read.flatMap(({ text, isError }, i) => (isError ? [] : linesOf(manifests[i] ?? "", text))));
  const mentioned = evidenceIn(
    (searched.isError ? [] : foundIn(say, searched.text).found).map((text) => ({ text, shown: text })),
  );
  // Without a word in a manifest, what the files mention most is the best guess there is.
  const answer = named.size > 0 ? named : new Map([...mentioned].slice(0, 1));
  const also = [...mentioned.keys()].filter((name) => !answer.has(name));
  const failures = [globbed, searched, ...read].filter((one) => one.isError).map((one) => firstLine(one.text));
  const evidence = [...answer.values()].flatMap((lines) => lines.slice(0, 3).map((line) => `- ${line}`));
  const text = [
    ...(answer.size > 0
      ? [say("framework", { names: [...answer.keys()].join(", ") }), say("evidence"), ...evidence]
      : [say("noFramework")]),
    ...(also.length > 0 ? [say("alsoSeen", { names: also.join(", ") })] : []),
    manifests.length > 0 ? say("lookedAt", { list: manifests.join(", ") }) : say("noManifest"),
    ...new Set(failures),
  ];
  return { text: text.join("\n"), ok: !globbed.isError || answer.size > 0 };
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The manifests nearest to the root, in the order of the table; those of examples further down say nothing of the project. */
function nearest(paths: string[]): string[] {
  const depth = (path: string) => path.split("/").length;
  const rank = (path: string) => MANIFESTS.indexOf(nameOf(path));
  const top = Math.min(...paths.map(depth));
  return paths
    .filter((path) => depth(path) === top)
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .slice(0, READ_AT_MOST);
}

interface Line {
  text: string;
  shown: string;
}

function linesOf(path: string, text: string): Line[] {
  const { from, lines } = fileLines(text);
  const builtIn = BUILT_IN[nameOf(path)];
  return [
    ...lines.map((line, n) => ({ text: line, shown: `${path}:${from + n}: ${line.trim().slice(0, 120)}` })),
    ...(builtIn ? [{ text: builtIn, shown: path }] : []),
  ];
}

/** The lines that name each framework, the most named first. */
function evidenceIn(lines: Line[]): Map<string, string[]> {
  const all = KNOWN.map((name) => {
    const sign = new RegExp(signOf(name), "i");
    return [name, lines.filter(({ text }) => sign.test(text)).map(({ shown }) => shown.trim().slice(0, 160))] as const;
  });
  return new Map(all.filter(([, found]) => found.length > 0).sort(([, a], [, b]) => b.length - a.length));
}
