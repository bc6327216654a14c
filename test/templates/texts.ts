// Rendering templates in tests, and reading what came out.
import { expect } from "vitest";
import { HoldfastError } from "../../src/ledger/error.ts";
import type { TemplateKind } from "../../src/templates/document.ts";
import { parseTemplate } from "../../src/templates/index.ts";

export type Files = Record<string, string>;
const FILE: Record<TemplateKind, string> = { markdown: "p/t.md", poml: "p/t.poml" };

export function render(kind: TemplateKind, text: string, values: unknown = {}, files: Files = {}): string {
  return parseTemplate({ text, file: FILE[kind] }).render(values, { include: (path) => files[path] });
}
export const md = (text: string, values?: unknown) => render("markdown", text, values);
export const poml = (body: string, values?: unknown, files?: Files) =>
  render("poml", `<poml>${body}</poml>`, values, files);

export function failure(run: () => unknown): string {
  try {
    return `nothing thrown: ${JSON.stringify(run())}`;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    expect(error.message).not.toMatch(/[\n\r\u2028]/);
    return `${error.code} ${error.message}`;
  }
}

export function asPattern(part: string | RegExp): RegExp {
  return typeof part === "string" ? new RegExp(part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : part;
}

/** The fenced blocks of a Markdown text, read as CommonMark reads them (indentation of a list item taken off). */
export function fences(text: string): { info: string; content: string; after: string[] }[] {
  const blocks: { info: string; content: string; after: string[] }[] = [];
  let open: { fence: string; info: string; lines: string[] } | undefined;
  // A stricter reader than CommonMark: anything that might break a line does.
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029\u0085]/)) {
    if (!open) {
      const [, fence, info] = /^ {0,3}(`{3,}|~{3,})([^`]*)$/.exec(line) ?? [];
      if (fence !== undefined) open = { fence, info: info!, lines: [] };
      else blocks.at(-1)?.after.push(line);
    } else if (new RegExp(`^ {0,3}${open.fence[0]}{${open.fence.length},}\\s*$`).test(line)) {
      blocks.push({ info: open.info, content: open.lines.join("\n"), after: [] });
      open = undefined;
    } else open.lines.push(line);
  }
  if (open) throw new Error("a fence is left open");
  return blocks;
}

const entries = (value: object): [string, unknown][] => Object.entries(value);

/** The value as lists of sorted entries: equal when the JSON is, whatever the keys are called. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return {
    object: entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  };
}

export function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const copy = {};
  for (const [key, inner] of entries(value).reverse()) {
    Object.defineProperty(copy, key, { value: reversed(inner), enumerable: true, writable: true, configurable: true });
  }
  return copy;
}
