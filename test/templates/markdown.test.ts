import { describe, expect, it } from "vitest";
import { parseTemplate } from "../../src/templates/index.ts";
import { asPattern, failure, md } from "./texts.ts";

describe("a Markdown template", () => {
  const values = {
    name: "Zunda",
    話題: "ずんだもん 🫛",
    n: 3,
    zero: 0,
    no: false,
    nothing: null,
    empty: "",
    list: ["a", 1, { k: true }],
    deep: { z: 1, a: [{ "key with space": "found" }] },
    text: "{{ name }} \\{{ $& $1",
  };
  it.each([
    ["a plain text without any braces } }} {", "a plain text without any braces } }} {"],
    ["{{name}} {{ name }} {{\n name\n}}", "Zunda Zunda Zunda"],
    ["話題は{{ 話題 }}。", "話題は ずんだもん 🫛。".replace(" ", "")],
    ["{{ n }}{{ zero }}{{ no }}{{ nothing }}{{ empty }}", "30falsenull"],
    ['{{ deep.a[0]["key with space"] }} {{ ["deep"]["z"] }}', "found 1"],
    ["{{ deep }}", '{\n  "a": [\n    {\n      "key with space": "found"\n    }\n  ],\n  "z": 1\n}'],
    ['{{ list | join: ", " }}', 'a, 1, {\n  "k": true\n}'],
    ["{{ name | json }} {{ n | json }}", '"Zunda" 3'],
    ['{{ gone | default: "x\\n\\"}}\\u3042" }}', 'x\n"}}あ'],
    ["{{ gone.very.far | default: '' }}.", "."],
    ['{{ nothing | default: "x" }}{{ zero | default: "x" }}{{ empty | default: "x" }}', "x0"],
    ['{{ gone | join: ", " | default: "none" }}', "none"],
    ['{{ gone | default: "none" | join: ", " }}', "none"],
    ["\\{{ name }} \\\\{{ name }} \\\\\\{{ \\ \\n", "{{ name }} \\Zunda \\{{ \\ \\n"],
    ['{"a": {{ name | json }}}', '{"a": "Zunda"}'],
    ["values are not templates: {{ text }}", "values are not templates: {{ name }} \\{{ $& $1"],
    ["\uFEFFone\r\n{{ name }}\r\n", "one\nZunda\n"],
    ["---\ndescription: d\n---\nHello\n", "Hello\n"],
    ["---\nno front matter, for nothing closes it\n", "---\nno front matter, for nothing closes it\n"],
  ])("%j renders as %j", (text, expected) => {
    expect(md(text, values)).toBe(expected);
  });

  it("keeps its front matter apart and counts lines from the top of the file", () => {
    const template = parseTemplate({ text: "---\r\nmodel: small\r\n---\r\n{{ a }}\n{{ a }} {{ b.c }}", file: "x.md" });
    expect({ front: template.front, kind: template.kind, variables: template.variables() }).toEqual({
      front: { model: "small" },
      kind: "markdown",
      variables: [
        { name: "a", line: 4, file: "x.md", optional: false },
        { name: "a", line: 5, file: "x.md", optional: false },
        { name: "b.c", line: 5, file: "x.md", optional: false },
      ],
    });
  });

  const ONLY = /Only paths such as .* nothing is evaluated\.$/;
  it.each<[string, unknown, string | RegExp, RegExp?]>([
    [
      "a\nb {{ topik }}",
      { topic: 1 },
      /^invalid p\/t\.md:2:3: there is no variable topik \(did you mean "topic"\?\)\. Give/,
    ],
    ["🫛あ{{ c.topik }}", { c: { topic: 1 } }, 'p/t.md:1:3: there is no variable c.topik (did you mean "topic"?)'],
    ["\r\n\r\n{{ a.b.c }}", { a: { b: "x" } }, "p/t.md:3:1: there is no variable a.b.c (a.b is text)"],
    ["{{ a[2] }}", { a: [1] }, "p/t.md:1:1: there is no variable a[2] (a is a list with 1 entries)"],
    ["{{ a[0] }}", { a: { 0: 1 } }, "there is no variable a[0] (a is an object)"],
    ["{{ a.length }}", { a: [1] }, "there is no variable a.length (a is a list"],
    ["{{ a.length }}", { a: "text" }, "there is no variable a.length (a is text)"],
    ["{{ toString }}{{ x }}", {}, "there is no variable toString"],
    ["{{ a.hasOwnProperty }}", { a: {} }, "there is no variable a.hasOwnProperty"],
    ["{{ __proto__ }}", {}, 'refused p/t.md:1:4: "__proto__" is not allowed in a path'],
    ["{{ a.constructor.name }}", {}, 'refused p/t.md:1:5: "constructor" is not allowed'],
    ['{{ a["proto\\u0074ype"] }}', {}, 'refused p/t.md:1:5: "prototype" is not allowed'],
    ["{{ }}", {}, "p/t.md:1:1: there is nothing between {{ and }}", ONLY],
    ["x\n {{ a", {}, "p/t.md:2:2: this {{ has no }}"],
    ["{{ a + b }}", {}, 'p/t.md:1:6: "+" is not expected here', ONLY],
    ["{{ a() }}", {}, 'p/t.md:1:5: "(" is not expected here', ONLY],
    ["{{ a-b }}", {}, 'p/t.md:1:5: "-" is not expected here', ONLY],
    ["{{ a ? b : c }}", {}, 'p/t.md:1:6: "?" is not expected here', ONLY],
    ["{{ 'text' }}", {}, `p/t.md:1:4: "'" is not expected here`, ONLY],
    ["{{ a[b] }}", {}, 'p/t.md:1:6: "b" is not expected here', ONLY],
    ["{{ a[-1] }}", {}, 'p/t.md:1:6: "-" is not expected here', ONLY],
    ["{{ [0] }}", {}, 'p/t.md:1:5: "0" is not expected here', ONLY],
    ["{{ a. }}", {}, 'p/t.md:1:6: " " is not expected here', ONLY],
    ["{{{ a }}}", {}, 'p/t.md:1:3: "{" is not expected here', ONLY],
    ["{{ a | upper }}", {}, 'p/t.md:1:8: there is no filter "upper"', ONLY],
    ["{{ a | jion: ',' }}", {}, 'p/t.md:1:8: there is no filter "jion" (did you mean "join"?)'],
    ["{{ a | default }}", {}, "p/t.md:1:16: the filter default takes a text"],
    ["{{ a | default: 1 }}", {}, "p/t.md:1:17: the filter default takes a text"],
    ["{{ a | json: '' }}", {}, "p/t.md:1:8: the filter json takes nothing"],
    ["{{ a | json | json }}", {}, "p/t.md:1:15: the filter json is given twice"],
    ["{{ a | default: '\\x' }}", {}, "p/t.md:1:17: there is no escape \\x"],
    ["{{ a | join: ',' }}", { a: "x" }, "p/t.md:1:1: a is text, and join takes a list"],
    ["{{ a }}", { a: () => 1 }, "p/t.md:1:1: a cannot be written: function is not JSON"],
    ["{{ a }}", { a: [Number.NaN] }, "p/t.md:1:1: a cannot be written: NaN is not JSON"],
    ["{{ a }}", { a: new Date() }, "p/t.md:1:1: a cannot be written: an instance of a class is not JSON"],
    ["{{ a }}", [], "p/t.md:1:1: the values are a list"],
    ["---\na: [\n---\n", {}, /p\/t\.md:\d:\d: the front matter is not valid YAML/],
    ["---\njust words\n---\n", {}, "p/t.md:2:1: the front matter is not a map"],
    ["{{ a }}", { a: "あ".repeat(400_000) }, "limit p/t.md:1:1: the prompt is longer than 1048576 bytes"],
    [
      "{{ a | join: ',' }}",
      { a: Array(3).fill("x".repeat(500_000)) },
      "limit p/t.md:1:1: a cannot be written: its text is",
    ],
  ])("%j is refused", (text, values, ...expected) => {
    const message = failure(() => md(text, values));
    for (const part of expected) if (part) expect(message).toEqual(expect.stringMatching(asPattern(part)));
  });

  it("refuses values that contain themselves or nest without end", () => {
    const a: Record<string, unknown> = {};
    a.self = a;
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect([failure(() => md("{{ a }}", { a })), failure(() => md("{{ deep }}", { deep }))]).toEqual([
      "invalid p/t.md:1:1: a cannot be written: it contains itself. Give smaller, plain JSON.",
      "limit p/t.md:1:1: deep cannot be written: it is nested deeper than 256. Give smaller, plain JSON.",
    ]);
  });
});
