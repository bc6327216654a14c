// Nothing is decided by a sentence: `reason`, `message` and `text` of another object are for people. Codes and types decide.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { decisionsIn, type Said } from "./decisions.ts";

const src = path.join(import.meta.dirname, "../src");

/** Where the word means no sentence of ours. A path covers what is below it. */
const EXCEPTIONS: [place: string, from: Said, why: string][] = [
  ["shell-policy/commands", "text", "a word of the command that is judged"],
  ["shell-policy/shell", "text", "a word of the command that is judged"],
  ["shell-policy/engine.ts", "text", "a part of the command as written: each is listed once"],
  ["mechanisms/tasks/files.ts", "text", "the content of a file"],
  ["mechanisms/jobs/bash.ts", "text", "what a command printed"],
  ["templates", "text", "the content of a template file"],
  ["models/rehearsal", "text", "what a user or a tool says: the rehearsal is a model"],
  ["models/http-error.ts", "message", "the words of a provider behind a gateway that drops its codes"],
  ["models/openai-responses.ts", "message", "the words of a provider, which gives no code for it"],
  ["models/openai-responses-reading.ts", "reason", "a code of the provider's protocol"],
  ["run-result.ts", "reason", "how a turn ended: a code of the loop"],
  ["cli/headless.ts", "reason", "how a turn ended: a code of the loop"],
  ["cli/conversation.ts", "reason", "how a turn ended: a code of the loop"],
  ["cli/terminal/interactive.ts", "reason", "how a turn ended: a code of the loop"],
  ["cli/going-on.ts", "reason", "how a turn ended: a code of the loop"],
  ["front/sdk-protocol/result.ts", "reason", "how a turn ended: a code of the loop"],
  ["front/text/hosted-output.ts", "reason", "how a turn ended: a code of the loop"],
  ["front/text/text-output.ts", "text", "what the lead said: shown once"],
  ["front/monitor", "reason", "how a turn ended: a code of the loop"],
  ["front/monitor/page/context/filters.tsx", "text", "the words that a person searches for"],
  ["front/monitor/context-source.ts", "text", "the words that a person searches for"],
  ["front/sdk-protocol/stream-json.ts", "reason", "how a turn ended: a code of the loop"],
  ["contexts/listing.ts", "reason", "how a turn ended: a code of the loop"],
  ["front/traces/gather.ts", "reason", "how a turn ended: a code of the loop"],
  ["hub/hub.ts", "reason", "how a turn ended: a code of the loop"],
  ["loop/agent.ts", "reason", "how a turn ended: a code of the loop"],
  ["loop/hosting.ts", "reason", "how a turn ended: a code of the loop"],
  ["replay", "reason", "how a turn ended: a code of the loop"],
  ["replay", "text", "what was recorded and what is computed are held against each other"],
  ["mechanisms/team", "reason", "how a turn ended: a code of the loop"],
  ["replay", "reason", "how a turn ended: a code of the loop"],
  ["replay", "text", "what was recorded against what is computed: comparing them is all that a replay does"],
];

const files = fs
  .readdirSync(src, { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile() && /\.tsx?$/.test(e.name))
  .map((e) => path.relative(src, path.join(e.parentPath, e.name)));

const covers = ([place, from]: (typeof EXCEPTIONS)[number], file: string, said: Said): boolean =>
  from === said && (file === place || file.startsWith(`${place}/`));

describe("decisions by text", () => {
  const found = files.flatMap((file) =>
    decisionsIn(fs.readFileSync(path.join(src, file), "utf8"), file.endsWith(".tsx") ? "tsx" : "ts").map((one) => ({
      file,
      ...one,
    })),
  );

  it("are in no file of ours", () => {
    const bad = found.filter(({ file, from }) => !EXCEPTIONS.some((one) => covers(one, file, from)));
    expect(bad.map(({ file, line, code }) => `${file}:${line}: ${code}`)).toEqual([]);
  });

  it("have no exception that is not needed any more", () => {
    const idle = EXCEPTIONS.filter((one) => !found.some(({ file, from }) => covers(one, file, from)));
    expect(idle).toEqual([]);
  });

  it.each([
    ["directly", 'if (verdict.reason === "outside") go();'],
    ["by another operator", 'const a = error.message != "x";'],
    ["in a part of the text", 'if (verdict.reason.includes("outside")) go();'],
    ["at its beginning", 'if (says.text.startsWith("the rule ")) go();'],
    ["by a regular expression", "if (/tmp/.test(verdict.reason)) go();"],
    ["by a regular expression that is named", "const PLACE = /tmp/; if (PLACE.exec(verdict.reason)) go();"],
    ["by match", "verdict?.reason?.match(/tmp/);"],
    ["by search on another form", 'verdict.reason.trim().toLowerCase().indexOf("x") >= 0;'],
    ["by a switch", 'switch (error.message) { case "x": go(); }'],
    ["by a table", "go(TABLE[error.message]);"],
    ["by a set", "if (KNOWN.has(error.message)) go();"],
    ["by a list", "if (known.includes(verdict.reason)) go();"],
    ["destructured", 'const { reason } = verdict; if (reason === "x") go();'],
    ["destructured and renamed", 'const { reason: why } = verdict; if (why === "x") go();'],
    ["destructured with a default", 'const { message = "" } = error; if (message === "x") go();'],
    ["destructured in a parameter", 'const f = ({ reason }: Verdict) => reason === "x";'],
    ["destructured deep in a parameter", 'function f([{ verdict: { reason: r } }]: X) { return r !== "x"; }'],
    ["destructured in a loop", 'for (const { text } of all) if (text === "x") go();'],
    ["by a constant", 'const why = verdict.reason; if (why === "x") go();'],
    ["by a constant of a constant", 'const a = verdict.reason; const b = a ?? ""; if (b.endsWith("x")) go();'],
    ["by an assignment", 'let why = ""; why = verdict.reason; if (why === "x") go();'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    ["inside a template", 'const why = `${verdict.reason}!`; if (why === "x!") go();'],
    ["through a cast", 'if ((verdict as { reason: string }).reason! === "x") go();'],
    ["by a computed name", 'if (verdict["reason"] === "x") go();'],
    ["by the message of whatever was thrown", 'if (messageOf(error).includes("x")) go();'],
    ["between two of them", "const isOpen = verdict.reason !== asked.reason;"],
    ["in a function inside a function", 'const { text: t } = a; const f = () => () => t === "x";'],
  ])("are found %s", (_, code) => {
    expect(decisionsIn(code).length).toBeGreaterThan(0);
  });

  it.each([
    ["whether it is there", 'if (verdict.reason === undefined || verdict.reason === "") go();'],
    ["its type", 'if (typeof error.message === "string") go();'],
    ["another form for people", 'show(verdict.reason.replace(/x/g, "y").slice(0, 100));'],
    ["a code beside it", 'if (verdict.code === "outside") go(verdict.reason);'],
    ["another name that hides it", 'const { reason } = verdict; const f = (reason: string) => reason === "x";'],
    ["its length", "if (verdict.reason.length > 100) go();"],
  ])("are not %s", (_, code) => {
    expect(decisionsIn(code)).toEqual([]);
  });
});
