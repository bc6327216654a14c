// Front matter that is read without YAML: only what YAML would read the same way.
import { expect, it } from "vitest";
import { readFrontMatter } from "../../src/definitions/front-matter.ts";
import { plainFrontMatter } from "../../src/definitions/plain-front-matter.ts";

const asYaml = (text: string) => readFrontMatter(text, { keys: ["name", "description"], texts: ["description"] });
const file = (front: string) => `---\n${front}\n---\n# Body\n`;

it("is that of most skills: names, descriptions, flags", () => {
  const text = file('name: code-review\ndescription: Reviews a change, e.g. of src/a.ts (it\'s "read").\n\nflag: true');
  expect(plainFrontMatter(text)).toEqual({
    values: {
      name: { value: "code-review", line: 2 },
      description: { value: 'Reviews a change, e.g. of src/a.ts (it\'s "read").', line: 3 },
      flag: { value: true, line: 5 },
    },
    body: "# Body\n",
    guessed: [],
  });
  expect(plainFrontMatter(text)).toEqual(asYaml(text));
});

it("is left to YAML wherever that could read something else", () => {
  const others = [
    ...["name: 12", "name: 1e3", "name: null", "name: ~", "name: Yes", "name: 'quoted'", "name: [a]", "name: {a: b}"],
    ...[
      "name: a: b",
      "name: a:",
      "name: a # c",
      "name: &a b",
      "name: *a",
      "name: !!str a",
      "name: |\n  a",
      "name: >-\n  a",
    ],
    ...[
      "name: a\n  goes on",
      "name: a\nname: b",
      "# only a comment",
      "name:",
      "- a",
      "name: a\n---\nb: c",
      "name: .inf",
    ],
    ...[
      "name:\ta",
      "? name\n: a",
      "name: 2026-01-01",
      "<<: a",
      "name: a\u2028b",
      "name: a\u0007b",
      "name: a\tb: c",
      "",
    ],
  ];
  const read = others.map((front) => [front, plainFrontMatter(file(front))] as const);
  const wrong = read.filter(([front, plain]) => plain && JSON.stringify(plain) !== JSON.stringify(asYaml(file(front))));
  expect([wrong, plainFrontMatter("no front"), plainFrontMatter("text\n---\nname: a\n---\n")]).toEqual([
    [],
    undefined,
    undefined,
  ]);
  expect(read.filter(([, plain]) => plain).map(([front]) => front)).toEqual(["name: a\n---\nb: c"]); // which ends at the first mark
});

it("says what YAML says of any text that it reads at all", () => {
  const pieces = [
    "name",
    ": ",
    ":",
    " ",
    "\n",
    "a",
    "Text",
    "é",
    "#",
    " #",
    "'",
    '"',
    "-",
    "[",
    ",",
    "true",
    "no",
    "1",
    "\t",
    "&",
    "%",
    "|",
    "b: ",
  ];
  let seed = 7;
  const next = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed;
  };
  let plainOnes = 0;
  for (let i = 0; i < 4000; i++) {
    const front = `name: a${Array.from({ length: 1 + (next() % 7) }, () => pieces[next() % pieces.length]).join("")}`;
    const plain = plainFrontMatter(file(front));
    if (!plain) continue;
    plainOnes++;
    expect([front, plain]).toEqual([front, asYaml(file(front))]);
  }
  expect(plainOnes).toBeGreaterThan(500);
});
