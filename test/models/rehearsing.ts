// What the tests of the rehearsal model share: stand-ins for the tools in a folder of their own, and a loop that plays them.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import { noteText } from "../../src/loop/marks.ts";
import { type CallPart, type Item, type ModelRequest, type ToolSpec, textOf } from "../../src/models/model.ts";
import { createRehearsal } from "../../src/models/rehearsal/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: each stand-in knows its own input
export type Play = (input: any) => string | Error;
export type Tools = Record<string, Play>;

export const user = (text: string): Item => ({ kind: "user", content: [{ type: "text", text }] });
export const note = (from: string, text: string, kind?: string): Item => user(noteText(from, text, kind));

export const asked = (items: Item[], offered: Tools): ModelRequest => ({
  system: ["s"],
  tools: Object.keys(offered).map((name): ToolSpec => ({ name, description: name, input: {} })),
  items,
  maxOutputTokens: 1000,
});

export interface Played {
  /** The calls of each round. */
  calls: [string, unknown][][];
  text: string;
  items: Item[];
}

/** Each reply comes from a model of its own, as after a kill: nothing can be kept between rounds. */
export async function play(items: Item[], offered: Tools, opts: { meanwhile?: Item[][] } = {}): Promise<Played> {
  const calls: [string, unknown][][] = [];
  const all = [...items];
  for (let round = 0; round < 20; round++) {
    const request = asked(all, offered);
    const reply = await createRehearsal().reply(request, { signal: new AbortController().signal });
    all.push({ kind: "reply", model: reply.model, parts: reply.parts });
    const made = reply.parts.filter((p): p is CallPart => p.type === "call");
    if (made.length === 0) return { calls, text: textOf(reply.parts), items: all };
    calls.push(made.map((c) => [c.name, c.input]));
    for (const c of made) all.push(resultOf(c, offered[c.name]!(c.input)));
    all.push(...(opts.meanwhile?.[round] ?? []));
  }
  throw new Error("it never stops");
}

function resultOf({ id, name }: CallPart, out: string | Error): Item {
  const isError = out instanceof Error;
  const text = isError ? out.message : out;
  // As the loop does: how a command ended is a field of the result too.
  const code = isError
    ? text
        .split("\n")
        .at(-1)!
        .match(/^\[exit code (\d+)/)?.[1]
    : undefined;
  const exitCode = code === undefined ? {} : { exitCode: Number(code) };
  return { kind: "result", callId: id, name, content: [{ type: "text", text }], isError, ...exitCode };
}

/** A folder of its own for each test, and tools that print what the real ones print. */
export function createRoom(): { put: (file: string, text: string) => void; tools: Tools; dir: () => string } {
  let dir = "";
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), "rehearsal-"));
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));
  const put = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    fs.writeFileSync(path.join(dir, file), text);
  };
  const tools: Tools = {
    todo_write: ({ todos }) =>
      (todos as { content: string; status: string }[]).map((t) => `[${t.status}] ${t.content}`).join("\n"),
    glob: ({ pattern, path: under = "." }) => {
      const found = fs
        .globSync(pattern as string, { cwd: path.join(dir, under), withFileTypes: true })
        .filter((e) => e.isFile());
      const names = found.map((e) => path.relative(dir, path.join(e.parentPath, e.name))).sort();
      return names.length > 0 ? names.join("\n") : "(no files)";
    },
    read_file: ({ path: file }) => {
      if (!fs.existsSync(path.join(dir, file))) return new Error(`${file}: no such file`);
      const lines = fs.readFileSync(path.join(dir, file), "utf8").replace(/\n$/, "").split("\n");
      return lines.map((line, i) => `${i === 0 || (i + 1) % 5 === 0 ? i + 1 : ""}|${line}`).join("\n");
    },
    write_file: ({ path: file, content }) => {
      put(file, content);
      return `Wrote ${file}`;
    },
    edit_file: ({ path: file, old_text, new_text }) => {
      const text = fs.readFileSync(path.join(dir, file), "utf8");
      if (!text.includes(old_text)) return new Error("old_text was not found: 0 matches");
      put(file, text.replace(old_text, new_text));
      return `Edited ${file}`;
    },
    grep: ({ pattern }) => {
      const hits = fs.readdirSync(dir).flatMap((file) => {
        const lines = fs.readFileSync(path.join(dir, file), "utf8").split("\n");
        return lines.flatMap((line, i) => (new RegExp(pattern).test(line) ? [`${file}:${i + 1}:${line}`] : []));
      });
      return hits.length > 0 ? hits.join("\n") : "(no matches)";
    },
    bash: ({ command, run_in_background }) => {
      if (run_in_background) return "[Background job job_7 started]";
      return command === "false" ? new Error("[exit code 1]") : `ran ${command}`;
    },
  };
  return { put, tools, dir: () => dir };
}
