import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { defineWorkflow, parseWorkflow, readWorkflow } from "../../src/workflow/parse.ts";
import type { WorkflowProblem as Problem } from "../../src/workflow/places.ts";
import { tempDir } from "../house.ts";

const FILES: Record<string, string> = {
  "write.md": "---\ntitle: x\n---\nWrite about {{ topic }}\nfrom {{ facts }}.\n",
  "typo.md": "Hello\n\n{{ topik }}\n",
  "broken.md": "a {{ topic",
  "review.poml": '<poml><task>Look at {{ essay }}</task><include src="rules.md"/></poml>',
  "rules.md": "Rules of {{ house }}.",
};

const parse = (text: string) => parseWorkflow({ text, file: "flows/w.yaml", read: (file) => FILES[file] });

/** `line: what. advice`, one for each problem. */
function problems(text: string, parser = parse): string[] {
  try {
    parser(text);
  } catch (error) {
    if (!isHoldfastError(error, "invalid")) throw error;
    return (error.detail as { problems: Problem[] }).problems.map(({ file, line, what, advice }) => {
      expect(advice).toMatch(/\.$/);
      expect(what).not.toMatch(/\.$/);
      return `${file === "flows/w.yaml" ? "" : `${file}:`}${line}: ${what}`;
    });
  }
  return [];
}

const flow = (phases: string, head = "description: d\n") => `name: w\n${head}phases:\n${phases.replace(/^/gm, "  ")}`;

describe("reading a workflow", () => {
  it("takes everything that the format knows", () => {
    const workflow = parse(`
name: essay
description: Writes.
concurrency: 2
budget: { tokens: 1000 }
inputs:
  topic: { type: string, default: tides }
phases:
  - id: write
    needs: [collect, ask]
    template: write.md
    reads: [facts, topic]
    exports: { essay: { type: string } }
    retry: 2
    timeout: 1.5m
    budget: { tokens: 100, rounds: 5 }
  - id: collect
    title: Collect facts
    agent: explorer
    prompt: |
      Collect facts
      about {{ topic }}.
    exports: { facts: { type: array, items: { type: string } } }
  - { id: ask, wait: input, prompt: Which house?, exports: { house: { type: string } } }
  - id: check
    needs: [write]
    foreach: facts
    concurrency: 3
    when: essay
    prompt: "{{ item }} {{ index }}"
    exports: { checks: true }
  - id: review
    agent: code-reviewer
    needs: [check, ask]
    template: review.poml
    exports: { verdict: { type: object } }
    until: { when: "verdict.grade == 'good'", max: 3, repeat: [write], exhausted: continue }
`);
    const { phases, ...head } = workflow;
    expect(head).toMatchObject({
      name: "essay",
      file: "flows/w.yaml",
      concurrency: 2,
      inputs: { topic: { default: "tides" } },
    });
    expect(phases.map((one) => one.id)).toEqual(["collect", "ask", "write", "check", "review"]);
    expect(phases.map((one) => one.agent)).toEqual([
      "explorer",
      "person",
      "general-purpose",
      "general-purpose",
      "code-reviewer",
    ]);
    expect(phases[2]).toMatchObject({ timeoutMs: 90_000, retry: 2, budget: { tokens: 100, rounds: 5 } });
    expect(phases[4]!.until).toMatchObject({ max: 3, repeat: ["write", "review"], exhausted: "continue" });
  });

  it("reports YAML that is none, and shapes that are not a workflow's, at their line", () => {
    expect(problems("name: w\nphases: [\n")).toEqual([expect.stringMatching(/^3: not valid YAML/)]);
    expect(problems(flow("- id: a\n  promt: x"))).toEqual(['5: there is no key "promt" here (did you mean "prompt"?)']);
    expect(
      problems(flow("- id: a\n  prompt: x\n  until:\n    when: b\n    max: 2\n    repeat: []\n    times: 3")),
    ).toEqual(['10: there is no key "times" here']);
    expect(problems("name: w\nphases: []")).toEqual(["2: phases: there is no phase"]);
    expect(problems("just text")).toEqual([expect.stringMatching(/^1: .*expected object/)]);
    expect(problems(flow("- id: a b\n  prompt: x\n  timeout: 90\n  retry: -1\n  wait: until"))).toEqual([
      expect.stringMatching(/^4: phases\.0\.id: an id has letters/),
      expect.stringMatching(/^6: phases\.0\.timeout: .*expected string/),
      expect.stringMatching(/^7: phases\.0\.retry/),
      expect.stringMatching(/^8: phases\.0\.wait: only "input"/),
    ]);
    expect(problems(flow("- id: a\n  prompt: x\n  timeout: 90 days"))).toEqual([
      '6: phases.0.timeout: write a time with its unit, as "90s" or "10m"',
    ]);
  });

  it("names cycles, missing needs, doubles and wrong loops", () => {
    const ring = ["a: [c]", "b: [a]", "c: [b]"].map((one) => `- { id: ${one[0]}, prompt: x, needs: ${one.slice(3)} }`);
    expect(problems(flow(ring.join("\n")))).toEqual(["4: the needs go round: a → c → b → a"]);
    expect(problems(flow("- { id: a, prompt: x, needs: [a] }"))).toEqual(["4: the needs go round: a → a"]);
    expect(problems(flow("- { id: colect, prompt: x }\n- id: b\n  prompt: x\n  needs:\n    - collect"))).toEqual([
      '8: b needs "collect", and there is no such phase (did you mean "colect"?)',
    ]);
    expect(problems(flow("- { id: a, prompt: x }\n- { id: a, prompt: y }"))).toEqual(["5: there are two phases a"]);
    const loops = flow(
      `- { id: a, prompt: x }
- { id: b, prompt: x }
- id: c
  prompt: x
  needs: [a]
  exports: { v: true }
  until: { when: v, max: 2, repeat: [b, zz] }`,
    );
    expect(problems(loops)).toEqual([
      "10: until repeats b, which c does not need",
      '10: until repeats "zz", and there is no such phase',
    ]);
  });

  it("finds values that nobody gives, in prompts, files, reads, conditions and lists, at their line", () => {
    const head = "inputs:\n  topic: { type: string }\n";
    expect(problems(flow("- id: a\n  prompt: |\n    Hello\n    {{ topik }}", head))).toEqual([
      '8: variable topik of a: nothing gives "topik" (did you mean "topic"?)',
    ]);
    expect(problems(flow("- { id: a, template: typo.md }", head))).toEqual([
      'flows/typo.md:3: variable topik of a: nothing gives "topik" (did you mean "topic"?)',
    ]);
    expect(
      problems(
        flow("- { id: a, prompt: x, exports: { essay: true } }\n- { id: b, needs: [a], template: review.poml }"),
      ),
    ).toEqual(['flows/rules.md:1: variable house of b: nothing gives "house"']);
    expect(problems(flow("- { id: a, prompt: x, reads: [q], when: r, foreach: s.t }"))).toEqual([
      '4: a reads "q": nothing gives "q"',
      '4: when of a: nothing gives "r"',
      '4: foreach of a: nothing gives "s"',
    ]);
    expect(problems(flow('- { id: a, prompt: "{{ item }} {{ data.zz }}" }'))).toEqual([
      "4: a has no foreach, and so no item",
      '4: variable data.zz of a: nothing gives "zz"',
    ]);
  });

  it("finds values that come too late or perhaps never", () => {
    const giver = "- { id: a, prompt: x, exports: { v: true } }\n";
    expect(problems(flow(`${giver}- { id: b, prompt: "{{ v }}" }`))).toEqual([
      '5: variable v of b: "v" comes from a, which b does not need',
    ]);
    const maybe =
      "- { id: n, prompt: x, exports: { c: true } }\n- { id: a, needs: [n], when: c, prompt: x, exports: { v: true } }\n";
    expect(problems(flow(`${maybe}- { id: b, needs: [a], prompt: "{{ v }}" }`))).toEqual([
      '6: variable v of b: "v" comes from a, which its when may skip',
    ]);
    expect(problems(flow(`${maybe}- { id: b, needs: [a], when: v, prompt: "{{ v }}" }`))).toEqual([]);
    const loop = (prompt: string) =>
      flow(`- { id: d, prompt: '${prompt}', reads: [w] }
- { id: r, needs: [d], prompt: x, exports: { w: true }, until: { when: w, max: 2, repeat: [d] } }`);
    expect(problems(loop("{{ w }}"))).toEqual(['4: variable w of d: "w" is not there in the first round: r gives it']);
    expect(problems(loop('{{ w | default: "" }}'))).toEqual([]);
    expect(problems(flow(`${giver}- { id: b, prompt: x, exports: { v: true } }`))).toEqual([
      '5: a and b both export "v", and neither comes first',
    ]);
  });

  it("refuses bad schemas, conditions, templates, defaults and reserved names", () => {
    expect(
      problems(flow("- id: a\n  prompt: x\n  exports:\n    v: { type: strng }\n    w: { typ: string }\n    u: text")),
    ).toEqual([
      '7: the schema of "v" cannot be used: Unsupported type: strng',
      '8: the schema of "w" has no meaning for "typ" (did you mean "type"?)',
      '9: the schema of "u" is not a JSON Schema',
    ]);
    expect(problems(flow("- { id: a, prompt: x }", "inputs:\n  n: { type: number, default: x }\n"))).toEqual([
      expect.stringMatching(/^3: the default of n does not fit: /),
    ]);
    expect(problems(flow("- { id: a, prompt: x, exports: { item: true } }"))).toEqual(['4: "item" cannot be exported']);
    expect(problems(flow('- { id: a, prompt: x, when: "v > 3" }'))).toEqual([
      expect.stringMatching(/^4: when: ">" is not expected here/),
    ]);
    expect(problems(flow("- { id: a, prompt: x, foreach: 'a b' }"))).toEqual([
      expect.stringMatching(/^4: foreach: "b" is not expected/),
    ]);
    expect(problems(flow("- { id: a, template: none.md }"))).toEqual(["4: there is no file flows/none.md"]);
    expect(problems(flow("- { id: a, template: ../up.md }"))).toEqual([
      expect.stringMatching(/^4: "\.\.\/up\.md" leads out/),
    ]);
    expect(problems(flow("- { id: a, template: broken.md }"))).toEqual([
      expect.stringMatching(/^flows\/broken\.md:1: /),
    ]);
    expect(problems(flow("- id: a\n  prompt: |\n    ok\n    {{ a b }}"))).toEqual([
      expect.stringMatching(/^7: "b" is not expected here/),
    ]);
    expect(problems(flow("- { id: a }"))).toEqual(["4: a has no prompt"]);
    expect(problems(flow("- { id: a, wait: input, agent: x }"))).toEqual([
      "4: a waits for input, and nothing says which",
      "4: a waits for a person, and agent is for agents",
    ]);
  });

  it("says the first mistake in its message, and how many more there are", () => {
    expect(() => parse(flow("- { id: a, prompt: x, reads: [q, r] }"))).toThrow(
      'flows/w.yaml:4: a reads "q": nothing gives "q". Let a phase export it or make it an input; there are none. (1 more: flows/w.yaml:4: a reads "r"',
    );
  });

  it("reads templates from the workflow's directory, and follows no link out of it", () => {
    const dir = tempDir("flows");
    const outside = path.join(tempDir("outside"), "secret.md");
    fs.writeFileSync(outside, "secret");
    fs.symlinkSync(outside, path.join(dir, "link.md"));
    fs.writeFileSync(path.join(dir, "in.md"), "inside");
    const file = path.join(dir, "w.yaml");
    fs.writeFileSync(file, flow("- { id: a, template: in.md }"));
    expect(readWorkflow(file).phases[0]!.prompt!.template.render({})).toBe("inside");
    fs.writeFileSync(file, flow("- { id: a, template: link.md }"));
    expect(() => readWorkflow(file)).toThrow(/there is no file .*link\.md/);
    expect(() => readWorkflow(path.join(dir, "none.yaml"))).toThrow(
      /^the workflow cannot be read: .*none\.yaml is not there; check the path$/,
    );
  });

  it("checks a workflow in TypeScript the same way, with the path in place of a line", () => {
    const define = () => defineWorkflow({ name: "w", phases: [{ id: "a", prompt: "{{ x }}", needs: ["b"] }] });
    expect(define).toThrow('workflow w: phases[0].needs[0]: a needs "b", and there is no such phase.');
    expect(() => defineWorkflow({ name: "w", phases: [{ id: "a", prompt: "hi\n{{ x }}" }] })).toThrow(
      'workflow w, prompt of a:2: variable x of a: nothing gives "x".',
    );
  });
});
