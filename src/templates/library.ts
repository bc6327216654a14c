// Fetching what a template includes: each file once, no cycles, a bounded depth.
import { posix } from "node:path";
import { messageOf } from "../ledger/error.ts";
import { type Document, parseDocument } from "./document.ts";
import { below, type Include } from "./includes.ts";
import { MAX_INCLUDES } from "./limits.ts";
import type { Element } from "./poml-tree.ts";
import { problem } from "./source.ts";

export interface Library {
  /** The template an <include> names. `chain` are the documents that led there, the innermost last. */
  template(chain: readonly Document[], element: Element): Document;
  /** The data a <let src> names: JSON as its value, other files as their text. */
  data(document: Document, element: Element): unknown;
}

export function createLibrary(root: Document, include: Include | undefined): Library {
  const texts = new Map<string, string>();
  const documents = new Map<string, Document>();
  const data = new Map<string, unknown>();
  const fileOf = (path: string): string => posix.join(posix.dirname(root.source.file), path);

  const read = (from: Document, element: Element): { path: string; text: string } => {
    const path = below(from.path, element.src!);
    const text = texts.get(path) ?? include?.(path, from.source.file);
    if (text !== undefined) {
      texts.set(path, text);
      return { path, text };
    }
    const advice = include
      ? "Check the path, seen from the file that names it."
      : "Render it with an include function.";
    throw problem(from.source, element.at, `there is no file ${path}`, advice, { code: "not_found" });
  };

  return {
    template(chain, element) {
      const from = chain.at(-1)!;
      const { path, text } = read(from, element);
      if (chain.some((document) => document.path === path)) {
        const round = [...chain.map((document) => document.path), path].join(" → ");
        throw problem(from.source, element.at, `the includes go round: ${round}`, "Take one of them out.");
      }
      if (chain.length > MAX_INCLUDES) {
        const what = `includes are nested deeper than ${MAX_INCLUDES}`;
        throw problem(from.source, element.at, what, "Put some of the files together.", { code: "limit" });
      }
      let document = documents.get(path);
      if (!document) {
        document = parseDocument({ text, file: fileOf(path), path });
        documents.set(path, document);
      }
      return document;
    },
    data(from, element) {
      const { path, text } = read(from, element);
      if (data.has(path)) return data.get(path);
      const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
      let value: unknown = plain;
      if (/\.json$/i.test(path)) {
        try {
          value = JSON.parse(plain);
        } catch (cause) {
          const what = `${path} is not valid JSON: ${messageOf(cause).replace(/\s+/g, " ")}`;
          throw problem(from.source, element.at, what, "Correct that file.", { cause });
        }
      }
      data.set(path, value);
      return value;
    },
  };
}
