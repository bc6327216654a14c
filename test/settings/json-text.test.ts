import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJsonText } from "../../src/settings/json-text.ts";

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const { cache } = createRequire(import.meta.url);
const ofLibrary = (): string[] => Object.keys(cache).filter((file) => file.includes("/jsonc-parser/"));
const isLibraryLoaded = (): boolean => ofLibrary().length > 0;

describe("JSON with places", () => {
  it("loads its library for comments, mistakes and places, not for plain JSON without", () => {
    for (const file of ofLibrary()) delete cache[file]; // another test of the same process may have loaded it
    const plain = readJsonText('\ufeff{"a": [1, {"b:": "\\" : {"}], "c": null}\n');
    expect([plain.value, isLibraryLoaded()]).toEqual([
      Object.assign(Object.create(null), { a: [1, Object.assign(Object.create(null), { "b:": '" : {' })], c: null }),
      false,
    ]);
    expect([plain.keyPlace(["c"]), isLibraryLoaded()]).toEqual([{ line: 1, column: 30 }, true]);
  });

  it("reads every JSON text as JSON.parse does, except for __proto__", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        fc.pre(!text.includes("__proto__"));
        expect(plain(readJsonText(text).value)).toEqual(plain(JSON.parse(text)));
      }),
    );
  });

  it("finds a place or a mistake in any text, and never throws", () => {
    const pieces = fc.array(
      fc.constantFrom("{", "}", "[", "]", ",", ":", '"a"', '"', "\\", "//", "/*", "*/", "1", "-", "true", "\n", "'"),
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const { value, problems } = readJsonText(parts.join(""));
        if (value === undefined) expect(problems).toHaveLength(1);
      }),
    );
  });

  it("knows the line and column of keys and values through comments, trailing commas, CRLF and a byte order mark", () => {
    const text = '\ufeff// one\r\n{ /* two\r\n  */ "a": [1,\r\n    "x", ],\r\n\t"ü": {"b": null,},\r\n}';
    const json = readJsonText(text);
    expect(plain(json.value)).toEqual({ a: [1, "x"], ü: { b: null } });
    expect(json.problems).toEqual([]);
    expect([json.keyPlace(["a"]), json.valuePlace(["a", 1]), json.keyPlace(["ü", "b"])]).toEqual([
      { line: 3, column: 6 },
      { line: 4, column: 5 },
      { line: 5, column: 8 },
    ]);
    // Of what is not there, the nearest around it.
    expect(json.valuePlace(["ü", "missing"])).toEqual({ line: 5, column: 7 });
  });

  it("reports keys that stand twice and __proto__, which changes no prototype", () => {
    const { value, problems } = readJsonText(
      '{"a": 1,\n "a": 2,\n "b": {"__proto__": {"polluted": true}, "toString": 3}}',
    );
    expect(value).toEqual(
      Object.assign(Object.create(null), { a: 2, b: Object.assign(Object.create(null), { toString: 3 }) }),
    );
    expect((value as { b: { polluted?: boolean } }).b.polluted).toBeUndefined();
    expect(problems).toEqual([
      { path: ["a"], place: { line: 2, column: 2 }, says: "the key `a` stands in line 1 already: keep one" },
      {
        path: ["b", "__proto__"],
        place: { line: 3, column: 8 },
        says: "the key `__proto__` is never one of ours: take it out",
      },
    ]);
  });

  it.each([
    ["", "1:1 the file ends here, and a value is missing: write one, such as {}"],
    ['{"a": 1', "1:8 a , or } belongs here"],
    ['{"a": 1,', "1:1 this { has no end: write }"],
    ['{\n  "a" 1}', "2:7 a : belongs here, after the key"],
    ["{a: 1}", "1:2 a key in double quotes or } belongs here"],
    ["{'a': 1}", "1:2 a key in double quotes or } belongs here"],
    ['{"a": plan}', "1:7 plan is not a value: put text in double quotes"],
    ["{\"a\": 'x'}", "1:7 text stands in double quotes, not single ones"],
    ['{"a": "x\n"}', '1:7 this text has no end: write "'],
    ['{"a": "C:\\users"}', "1:10 a backslash that means nothing here: write \\\\"],
    ['{"a": 01}', "1:7 this is not a number"],
    ["{} {}", "1:4 the value has ended, and more text follows: take it out"],
    ["{ /* ", "1:3 this comment has no end: write */"],
    ["[".repeat(100_000), "1:66 more than 64 levels deep: settings are flatter than that"],
  ])("says where %j breaks and what to do", (text, says) => {
    const { problems } = readJsonText(text);
    expect(problems.map((p) => `${p.place.line}:${p.place.column} ${p.says}`)).toEqual([says]);
  });
});
