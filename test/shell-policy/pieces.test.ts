import { expect, it } from "vitest";
import { wordPieces } from "../../src/shell-policy/shell/pieces.ts";

const paths = (word: string, before = "") => wordPieces(word, before, "/home/u", "/p").map((piece) => piece.path);

it.each([
  ["src/a.ts", "", ["src/a.ts"]],
  ["--file=~/x", "", ["/home/u/x"]],
  ["-F~/x", "", ["/home/u/x"]],
  ["-aF/etc/x", "", ["F/etc/x", "/etc/x"]],
  ["k=@$HOME/x", "", ["k=@/home/u/x", "/home/u/x", "k"]],
  ["type=local,dest=../x", "", expect.arrayContaining(["../x", "local"])],
  ["a.scss:/out/a.css", "", expect.arrayContaining(["/out/a.css", "a.scss"])],
  ["file:///etc/x", "", ["/etc/x"]],
  ["https://example.org/a?b=/c", "", []],
  ["s3://b/x=@$HOME/k", "", ["/home/u/k"]],
  ["u@host:/srv/x", "", ["u@host:/srv/x"]],
  [":/", "", [":/"]],
  ["--verbose", "", []],
  ["select readfile('~/x') from t", "", ["/home/u/x"]],
  ["feat: a=b, see https://example.org/x and /api", "", ["/api"]],
])("the word %j (after %j) may mean %j", (word, before, expected) => {
  expect(paths(word, before)).toEqual(expected);
});

it("a value belongs to the flag before it, or joined to it", () => {
  const flags = (word: string, before: string) => wordPieces(word, before, "/h", "/p").map((piece) => piece.flag);
  expect([flags("x", "--out"), flags("--out=x", "--in"), flags("-ox", ""), flags("x", "y")]).toEqual([
    ["--out"],
    ["--out"],
    ["-o"],
    [""],
  ]);
});
