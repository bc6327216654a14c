// Prompt templates: Markdown with {{ paths }} and a safe subset of POML. Nothing in a template or a value is ever evaluated.
import { posix } from "node:path";
import { HoldfastError } from "../ledger/error.ts";
import { parseDocument, type TemplateKind } from "./document.ts";
import type { Include } from "./includes.ts";
import { createLibrary } from "./library.ts";
import { createMeter } from "./meter.ts";
import { renderDocument } from "./poml-render.ts";
import { checkedValues } from "./scope.ts";
import { type Variable, variablesOf } from "./variables.ts";

export interface Template {
  readonly file: string;
  readonly kind: TemplateKind;
  /** What the YAML front matter of a Markdown template says; it is not part of the prompt. */
  readonly front: Record<string, unknown>;
  /** Contract: throws HoldfastError with file, line and column; values are only ever read. */
  render(values: unknown, opts?: { include?: Include }): string;
  /** What it asks for, before anything runs. Without `include`, what included files ask for is left out. */
  variables(opts?: { include?: Include }): Variable[];
}

/** Contract: throws HoldfastError with file, line, column and what is allowed. The kind follows the file's name when it is not given. */
export function parseTemplate(input: { text: string; file: string; kind?: TemplateKind }): Template {
  const { text, file }: Partial<typeof input> = input ?? {};
  if (typeof text !== "string" || typeof file !== "string" || file === "")
    throw new HoldfastError("invalid", "parseTemplate takes { text, file }: two texts, and the name says the kind");
  const root = parseDocument({ ...input, path: posix.basename(input.file) });
  return {
    file: root.source.file,
    kind: root.content.kind,
    front: root.front,
    render(values, opts = {}) {
      const scope = { names: new Map<string, unknown>(), values: checkedValues(root.source, values) };
      const library = createLibrary(root, opts.include);
      const meter = createMeter();
      return meter.whole(root.source, renderDocument({ library, meter }, [root], scope, 1));
    },
    variables: (opts = {}) => variablesOf(root, opts.include && createLibrary(root, opts.include)),
  };
}
