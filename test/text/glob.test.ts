import { expect, test } from "vitest";
import { matchesComponent, matchesComponents, matchesStars, pathMatcher } from "../../src/text/glob.ts";

/** `pattern | what it matches | what it does not`, with blanks between. */
const rows = (table: string): [pattern: string, yes: string[], no: string[]][] =>
  table
    .trim()
    .split("\n")
    .map((line) => {
      const [pattern, yes, no] = line.split(" | ");
      return [pattern!, yes!.split(" "), no!.split(" ")];
    });

test.each(
  rows(String.raw`
*.ts | a.ts a/b/c.ts .ts | a.tsx ts a.ts/b
src/** | src/a src/a/b src/ | src a/src/b
src/**/x.ts | src/x.ts src/a/x.ts src/a/b/x.ts | x.ts src/ax.ts
src/*/x.ts | src/a/x.ts | src/x.ts src/a/b/x.ts
/top/*.md | top/a.md | a/top/a.md top/a/b.md
./top/*.md | top/a.md | top/a/b.md
a/** | a/b a/b/c | b ab
file?.[ab] | file1.a a/filex.b | file.a file12.a file/.a
file?.[!ab] | file1.c | file1.a file1.b
x[^0-9]y | xay x-y | x5y xy x/y
[a-c-e] | a b c - e | d
[]a] | ] a | b
[a | [a | a
a+b(1).txt | a+b(1).txt | aab(1).txt
{a,b}/*.c | a/x.c b/y.c | c/x.c a/b/x.c
*.{ts,js,} | x.ts x.js x. | x x.md
{src,test}/{a,b/c}.ts | src/a.ts test/b/c.ts | src/c.ts b/c.ts
{a,{b,c{d,e}}}f | af bf cdf cef | cf df f
{a} | a | {a}
{a,[},]b}x | ax ,bx }bx | bx ax}
{{a,b} | {a {b | a
a} | a} | a
a,b | a,b | a b
\*.md | *.md | a.md
\{a,b} | {a,b} | a b
a\ | a\ | a
a**b | ab axb ax/yb | a
a**/b | ab ax/b a/x/b | a/xb
***/x | x a/x a/b/x | ax
`),
)("the pattern of paths %s matches %j and not %j", (pattern, yes, no) => {
  const matches = pathMatcher(pattern);
  expect([yes.filter((path) => !matches(path)), no.filter(matches)]).toEqual([[], []]);
});

test.each(
  rows(String.raw`
*.env | .env a.env a/b.env | a.env.x
.env.? | .env.a .env./ | .env. .env.ab
id_[a-z]* | id_rsa id_x | id_1 id_
\*x | *x | ax
{a,b} | {a,b} | a b
a**b | ab axxb a/b | a
`),
)("the pattern of names %s matches %j and not %j", (pattern, yes, no) => {
  const matches = (name: string) => matchesComponent(pattern, name);
  expect([yes.filter((name) => !matches(name)), no.filter(matches)]).toEqual([[], []]);
});

test("in the pattern of a command only the star is special, and it stands for anything", () => {
  const cases: [string, string, boolean][] = [
    ["git * main", "git push origin a/b main", true],
    ["git * main", "git main", false],
    ["ls [a] ? {b,c} \\", "ls [a] ? {b,c} \\", true],
    ["ls ?", "ls a", false],
    ["*", "", true],
    ["", "", true],
    ["", "a", false],
  ];
  expect(cases.filter(([pattern, text, want]) => matchesStars(pattern, text) !== want)).toEqual([]);
});

test("two stars as a name stand for any number of names, and nothing else crosses from one name to the next", () => {
  const cases: [string, string, boolean][] = [
    ["**", "", true],
    ["**", "a/b", true],
    ["a/**", "a", true],
    ["a/**", "a/b/c", true],
    ["**/x", "x", true],
    ["**/x", "a/b/x", true],
    ["**/x", "a/bx", false],
    ["a/**/b/**/c", "a/b/x/b/c", true],
    ["a/**/b/**/c", "a/x/c", false],
    ["a*c", "a/c", false],
    ["a?c", "a/c", false],
    ["a[!b]c", "a/c", false],
    ["{a,b}", "a", false],
    ["", "", true],
    ["", "a", false],
  ];
  const parts = (path: string) => (path === "" ? [] : path.split("/"));
  expect(cases.filter(([pattern, path, want]) => matchesComponents(parts(pattern), parts(path)) !== want)).toEqual([]);
});

test("hostile patterns cost no more than their length: each of these would take years to try out", () => {
  const deep = Array.from({ length: 200 }, (_, i) => `d${i}`).join("/");
  const long = "a".repeat(2_000);
  expect([
    pathMatcher(`${"**/".repeat(100)}x`)(deep),
    pathMatcher(`${"*a".repeat(100)}b`)(long),
    pathMatcher(`${"{a,aa,*}".repeat(100)}b`)(long),
    pathMatcher(`${"{**,".repeat(40)}a${"}".repeat(40)}b`)(long),
    pathMatcher("{".repeat(50_000) + "}".repeat(50_000))("a"),
    pathMatcher("[".repeat(50_000))("a"),
    matchesComponent(`${"*a".repeat(100)}b`, long),
    matchesStars(`${"*a".repeat(100)}b`, long),
    matchesComponents([...Array(100).fill("**"), "x"], deep.split("/")),
  ]).toEqual(Array(9).fill(false));
});
