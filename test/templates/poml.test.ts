import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Include } from "../../src/templates/includes.ts";
import { parseTemplate } from "../../src/templates/index.ts";
import type { Variable } from "../../src/templates/variables.ts";
import { type Files, failure, poml, render } from "./texts.ts";

describe("a POML template", () => {
  const folder = join(import.meta.dirname, "fixtures/review");
  const read = (path: string): string => readFileSync(join(folder, path), "utf8");
  const values = {
    initial_context: {
      topic: "ずんだもん",
      accumulated_results: [
        { agent: "collector", text: "一行目\n二行目", tags: ["事実", "出典"] },
        { agent: "", text: "left out" },
        { agent: "writer", text: "下書き", tags: [] },
      ],
    },
  };
  it.each([
    ["as written", (text: string) => text],
    ["with CRLF and a byte order mark", (text: string) => `\uFEFF${text.replaceAll("\n", "\r\n")}`],
  ])("renders the seed's review to Markdown, %s", (_, change) => {
    const template = parseTemplate({ text: change(read("review.poml")), file: "review.poml" });
    expect(`${template.render(values, { include: read })}\n`).toBe(read("expected.txt"));
  });

  it("says what it asks for, through its includes, without rendering", () => {
    const template = parseTemplate({ text: read("review.poml"), file: "hub/review.poml" });
    const conditional = parseTemplate({
      text: `<poml>
        <p if="a.b">{{ a.b }} {{ c | default: "" }}</p>
        <let name="d" if="e">x</let><let name="f">{{ g }}</let>
        <p for="x in xs" if="x">{{ x.y }} {{ loop.index }} {{ d }} {{ f }}</p>
        {{ x }} <include src="i.md"/></poml>`,
      file: "c.poml",
    });
    const include = () => "\n{{ f }} {{ h }}";
    const short = (list: Variable[]) => list.map((v) => `${v.name}:${v.line}${v.optional ? "?" : ""}`);
    expect(template.variables({ include: read })).toEqual([
      { name: "initial_context", line: 3, file: "hub/review.poml", optional: false },
    ]);
    expect(short(conditional.variables())).toEqual("a.b:2? c:2? e:3? g:3 xs:4 d:4? x:5".split(" "));
    expect(conditional.variables({ include }).at(-1)).toEqual({ name: "h", line: 2, file: "i.md", optional: false });
  });

  it.each<[string, unknown, string]>([
    ["<p>one</p>two<p>three</p>", {}, "one\n\ntwo\n\nthree"],
    [
      "<role>R</role><task>T<output-format>O</output-format></task>",
      {},
      "# Role\n\nR\n\n# Task\n\nT\n\n## Output Format\n\nO",
    ],
    ["<task caption='Task #{{ n }}'/><task caption=''>bare</task>", { n: "1\n2" }, "# Task #1 2\n\nbare"],
    ["<list><item>a</item><item>b</item></list>", {}, "- a\n- b"],
    ["<list listStyle='star'><item>a</item></list><list listStyle='plus'><item>a</item></list>", {}, "* a\n\n+ a"],
    ["<list listStyle='latin'><item for='x in xs'>{{ x }}</item></list>", { xs: ["x", "y"] }, "a. x\nb. y"],
    ["<list><item>a<p>b</p><list><item>c\nd</item></list></item></list>", {}, "- a\n\n  b\n\n  - c\n    d"],
    ["<list><item for='x in xs'>{{x}}</item></list>", { xs: [] }, ""],
    ["<p for='x in xs'><b>{{ x.n }}</b></p>", { xs: [{ n: 1 }, { n: 2 }] }, "**1**\n\n**2**"],
    [
      "<p for='x in xs'>{{loop.index}}/{{loop.length}} {{loop.first}} {{loop.last}}</p>",
      { xs: [1, 1] },
      "0/2 true false\n\n1/2 false true",
    ],
    [
      "<p for='x in xs'><p/></p>".replace("<p/>", "<list><item for='y in x'>{{ y }}</item></list>"),
      { xs: [[1], [2]] },
      "- 1\n\n- 2",
    ],
    ["<p if='x'>yes</p><p if='!x'>no</p>", {}, "no"],
    ["<p if='x'>yes</p><p if='!x'>no</p>", { x: [] }, "no"],
    ["<p if='x'>yes</p><p if='!x'>no</p>", { x: { a: 1 } }, "yes"],
    [`<p if="x == 'a &amp; b'">yes</p>`, { x: "a & b" }, "yes"],
    [`<p if='x == "3"'>yes</p>`, { x: 3 }, "yes"],
    [`<p if="x == ''">yes</p>`, {}, ""],
    [`<p if="x == 'f'">yes</p>`, { x: { toString: () => "f" } }, ""],
    ["<let name='o'>{{ v }}</let>{{ o.k }}", { v: { k: "kept" } }, "kept"],
    ["<let name='o'> a {{ v }} </let>{{ o }}.", { v: "\n" }, "a \n."],
    ["<let name='v'>inner</let><p><let name='v'>x</let></p>{{ v }}", { v: "outer" }, "inner"],
    ["a<!-- {{ not }} <read> -->b", {}, "ab"],
    ["&lt;b&gt; &amp;amp; &quot;&apos; &#65;&#x3042; &#123;{ x }} \\{{ x }}", {}, "<b> &amp; \"' Aあ {{ x }} {{ x }}"],
    ["<![CDATA[<b> &amp; {{ x }}]]>", { x: 1 }, "<b> &amp; 1"],
    ["{{ x }}", { x: "<b>&lt;</b> {{ y }} <script>" }, "<b>&lt;</b> {{ y }} <script>"],
    ["<code>{{ x }}</code>", { x: "a``b\n\n# c`" }, "``` a``b # c` ```"],
    ["<code inline='false'>{{ x }}</code>", { x: "```\n````" }, "`````\n```\n````\n`````"],
    ["<b>  x\n  y </b><i></i>", {}, "**x y**"],
    ["\n　　字下げ\n", {}, "　　字下げ"],
    ["<p>{{ x | default: '&lt;none&gt;' }}</p>", {}, "<none>"],
    ["<p> {{ x }} </p>end", { x: " kept \n" }, " kept \n\nend"],
  ])("%j with %j renders as %j", (body, given, expected) => {
    expect(poml(body, given)).toBe(expected);
  });

  it.each<[string, unknown, string]>([
    ["\n  <scirpt/>", {}, "invalid p/t.poml:2:3: there is no <scirpt>. Allowed are <poml> <role> <task>"],
    ["<script>x</script>", {}, "p/t.poml:1:7: there is no <script>"],
    ["<Task/>", {}, 'there is no <Task> (did you mean "task"?)'],
    ["<x:p/>", {}, "p/t.poml:1:7: namespaces are not allowed"],
    ["<p xmlns='u'/>", {}, 'p/t.poml:1:10: <p> has no attribute "xmlns". It takes if, for.'],
    ["<p onclick='x'/>", {}, '<p> has no attribute "onclick"'],
    ["<list liststyle='dash'/>", {}, '(did you mean "listStyle"?)'],
    ["<p if='a' if='b'/>", {}, "p/t.poml:1:17: the attribute if is given twice"],
    ["<p if/>", {}, 'p/t.poml:1:12: "/" is not expected here. An attribute is written name="value".'],
    ["<p if='a'for='b'/>", {}, 'p/t.poml:1:16: "f" is not expected here'],
    ["<p if='a<b'/>", {}, "p/t.poml:1:15: there is a < in an attribute"],
    ["<p if='a/>", {}, "p/t.poml:1:10: the value of if is not closed"],
    ["<p if='a &amp;&amp; b'/>", {}, `p/t.poml:1:16: "&" is not expected here. if takes a path`],
    ["<p if='f()'/>", {}, 'p/t.poml:1:15: "(" is not expected here. if takes'],
    ["<p if='a.b > 1'/>", {}, 'p/t.poml:1:18: ">" is not expected here. if takes'],
    ["<p if='a == 1'/>", {}, 'p/t.poml:1:19: "1" is not expected here. if takes'],
    [`<p if="!a == 'x'"/>`, {}, 'p/t.poml:1:17: "=" is not expected here. if takes'],
    ["<p if=''/>", {}, "p/t.poml:1:14: something is missing at the end. if takes"],
    ["<p if='{{ a }}'/>", {}, "p/t.poml:1:14: if takes no {{ }}. Write the path without braces."],
    ["<p for='x of xs'/>", {}, 'p/t.poml:1:16: " " is not expected here. for takes'],
    ["<p for='x in [1]'/>", {}, 'p/t.poml:1:21: "1" is not expected here. for takes'],
    ["<p for='loop in xs'/>", {}, 'p/t.poml:1:15: a variable cannot be called "loop"'],
    ["<p for='x in xz'/>", { xs: [] }, 'p/t.poml:1:20: there is no variable xz (did you mean "xs"?)'],
    ["<p for='x in xs'/>", { xs: "ab" }, "p/t.poml:1:20: xs is text. A loop runs over a list."],
    ["<p for='x in xs' if='x.constructor'/>", {}, 'refused p/t.poml:1:29: "constructor" is not allowed'],
    ["<p for='x in xs'>{{ x }}</p>{{ x }}", { xs: [1] }, "p/t.poml:1:35: there is no variable x"],
    ["<p>{{ loop.index }}</p>", {}, "p/t.poml:1:10: there is no variable loop.index"],
    ["<let name='x'/>", {}, "p/t.poml:1:7: <let> takes its value either from its text or from src"],
    ["<let name='x' src='a.json'>y</let>", {}, "p/t.poml:1:7: <let> takes its value either"],
    ["<let>x</let>", {}, '<let> has no name. Add name="…".'],
    ["<let name='a.b'>x</let>", {}, 'p/t.poml:1:19: "." is not expected here'],
    ["<let name='__proto__'>x</let>", {}, 'a variable cannot be called "__proto__"'],
    ["<let name='x'><b>x</b></let>", {}, "p/t.poml:1:21: <b> may not stand in <let>"],
    ["<item>x</item>", {}, "p/t.poml:1:7: <item> may not stand in <poml>. It may stand in <list>."],
    ["<list>\n x<item/></list>", {}, "p/t.poml:2:2: there is text in <list>"],
    ["<include src='a.md'> x</include>", {}, "p/t.poml:1:28: <include> holds nothing"],
    ["<include/>", {}, "<include> has no src"],
    ["<list listStyle='roman'/>", {}, 'p/t.poml:1:24: there is no listStyle "roman". Use dash, star'],
    ["<code inline='yes'/>", {}, 'p/t.poml:1:21: inline is "yes"'],
    ["<code lang='{{ l }}'>x</code>", { l: "ts\n```" }, "p/t.poml:1:7: the language of <code> is not a word"],
    ["<b><code lang='ts'>x</code></b>", {}, "p/t.poml:1:10: a block of code may not stand in <b>"],
    ["<poml/>", {}, "p/t.poml:1:7: <poml> may not stand in <poml>"],
    ["<p></b></p>", {}, "p/t.poml:1:10: </b> does not close anything. Close <p> first."],
    ["<p>", {}, "p/t.poml:1:10: </poml> does not close anything. Close <p> first."],
    ["a < b", {}, "p/t.poml:1:9: this < begins no tag. Write &lt;"],
    ["R&D", {}, "p/t.poml:1:8: this & begins no entity"],
    ["&nbsp;", {}, "p/t.poml:1:7: there is no entity &nbsp;"],
    ["&#xD800;", {}, "p/t.poml:1:7: there is no entity &#xD800;"],
    ["&#0;", {}, "there is no entity &#0;"],
    ["<!-- x", {}, "p/t.poml:1:7: this comment is not closed"],
    ["<![CDATA[ x", {}, "p/t.poml:1:7: this CDATA is not closed"],
    ["<?php x ?>", {}, "p/t.poml:1:7: declarations are not allowed"],
    ["{{ a + b }}", {}, 'p/t.poml:1:12: "+" is not expected here'],
  ])("%j with %j is refused: %s", (body, given, expected) => {
    expect(failure(() => poml(body, given))).toContain(expected);
  });

  it.each([
    ["<!DOCTYPE poml [<!ENTITY x 'y'>]><poml/>", "p/t.poml:1:1: declarations are not allowed"],
    ["<?xml version='1.0'?><poml/>", "p/t.poml:1:1: declarations are not allowed"],
    ["", "p/t.poml:1:1: there is no <poml>"],
    ["<p/>", "p/t.poml:1:1: <p> may not stand at the top"],
    ["<poml/>\n<poml/>", "p/t.poml:2:1: there is more than one element at the top"],
    ["<poml/>\n x", "p/t.poml:2:2: there is text outside <poml>"],
    ["<poml>\n<p>", "p/t.poml:2:1: <p> is not closed. Add </p>."],
  ])("the file %j is refused: %s", (text, expected) => {
    expect(failure(() => render("poml", text))).toContain(expected);
  });
});

describe("includes", () => {
  it.each([
    ["/etc/passwd", 'refused p/t.poml:1:21: "/etc/passwd" is not a relative path'],
    ["../x.md", '"../x.md" leads out of the template\'s directory'],
    ["a/../../x.md", "leads out"],
    ["a/..", "leads out"],
    ["&#46;./x.md", "leads out"],
    ["..\\x.md", "has a backslash in it"],
    ["C:/x.md", "is not a relative path"],
    ["file:///x.md", "is not a relative path"],
    ["a&#10;b", "has control characters in it"],
    ["./", "names no file"],
    ["{{ x }}.md", "p/t.poml:1:21: src takes no {{ }}. Write it out: a value cannot choose it."],
    ["gone.md", "not_found p/t.poml:1:7: there is no file gone.md"],
  ])("refuse %j", (src, expected) => {
    expect([
      failure(() => poml(`<include src="${src}"/>`)),
      failure(() => poml(`<let src="${src}" name='x'/>`)),
    ]).toEqual([
      expect.stringContaining(expected.replace(/\d:21/, "1:21")),
      expect.stringContaining(expected.replace(/1:21/, "1:17")),
    ]);
  });

  it("are asked for once each, by a path below the first template and the file that asks", () => {
    const asked: string[] = [];
    const files: Files = {
      "a/b.poml": "<poml><include src='c/./d.md' for='x in xs'/></poml>",
      "a/c/d.md": "\n{{ x }}\n",
    };
    const template = parseTemplate({ text: "<poml><include src='./a//b.poml'/></poml>", file: "/home/p/t.poml" });
    const include: Include = (path, from) => {
      asked.push(`${path} from ${from}`);
      return files[path];
    };
    expect([template.render({ xs: [1, 2] }, { include }), ...asked]).toEqual([
      "1\n\n2",
      "a/b.poml from /home/p/t.poml",
      "a/c/d.md from /home/p/a/b.poml",
    ]);
  });

  it("report mistakes with the file they are in, and need an include function", () => {
    expect([
      failure(() => poml("<include src='a/b.md'/>", {}, { "a/b.md": "\n{{ x }}" })),
      failure(() => poml("<include src='b.poml'/>", {}, { "b.poml": "<poml><x/></poml>" })),
      failure(() => poml("<let name='x' src='x.json'/>", {}, { "x.json": "{" })),
      failure(() => parseTemplate({ text: "<poml><include src='b.md'/></poml>", file: "t.poml" }).render({})),
    ]).toEqual([
      expect.stringContaining("p/a/b.md:2:1: there is no variable x"),
      expect.stringContaining("p/b.poml:1:7: there is no <x>"),
      expect.stringContaining("p/t.poml:1:7: x.json is not valid JSON"),
      "not_found t.poml:1:7: there is no file b.md. Render it with an include function.",
    ]);
  });

  it("go neither round nor deeper than 16", () => {
    const chain = (last: number): Files =>
      Object.fromEntries(
        Array.from({ length: last }, (_, i) => [
          `f${i + 1}.poml`,
          nested(i + 1 === last ? "end" : `<include src="f${i + 2}.poml"/>`),
        ]),
      );
    const nested = (inside: string) => `<poml>${"<task caption=''>".repeat(62)}${inside}${"</task>".repeat(62)}</poml>`;
    const first = '<include src="f1.poml"/>';
    expect([
      poml(first, {}, chain(16)),
      failure(() => poml(first, {}, chain(17))),
      failure(() => poml("<include src='t.poml'/>", {}, { "t.poml": "" })),
      failure(() => poml(first, {}, { "f1.poml": "<poml><include src='f1.poml'/></poml>" })),
    ]).toEqual([
      "end",
      expect.stringMatching(/^limit p\/f16\.poml:1:\d+: includes are nested deeper than 16\./),
      expect.stringContaining("p/t.poml:1:7: the includes go round: t.poml → t.poml."),
      expect.stringContaining("p/f1.poml:1:7: the includes go round: t.poml → f1.poml → f1.poml."),
    ]);
  });
});
