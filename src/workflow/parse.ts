// Reading a workflow: YAML or TypeScript in, a checked workflow out, or every mistake with its place.

import fs from "node:fs";
import path from "node:path";
import { HoldfastError, isHoldfastError, messageOf } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { readTextFile } from "../ledger/text-file.ts";
import { includePath } from "../templates/includes.ts";
import { parseTemplate, type Template } from "../templates/index.ts";
import { createSource } from "../templates/source.ts";
import { checkGraph, checkNames } from "./check.ts";
import { readCondition, readPath } from "./condition.ts";
import type { Phase, PhaseSpec, Typed, Until, Workflow, WorkflowSpec } from "./definition.ts";
import { phasesInOrder } from "./graph.ts";
import { type At, type Places, placesWithoutLines, problemError, readYaml } from "./places.ts";
import { readSchema } from "./schema.ts";
import { durationMs, readShape } from "./shape.ts";

const DEFAULT_CONCURRENCY = 4;

/** The text of a file beside or below the workflow's, undefined when there is none. */
export type ReadFile = (file: string) => string | undefined;

/** Contract: throws HoldfastError `invalid` with file, line and what to do; `detail.problems` has all mistakes. */
export function parseWorkflow(input: { text: string; file: string; read?: ReadFile }): Workflow {
  const { value, places } = readYaml(input.text, input.file);
  return build(value, places, input.read ?? filesBelow(path.dirname(input.file)));
}

export function readWorkflow(file: string): Workflow {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (cause) {
    throw new HoldfastError("not_found", `the workflow cannot be read: ${messageOf(cause)}; check the path`, {
      cause,
    });
  }
  return parseWorkflow({ text, file });
}

/** The same in TypeScript; `dir` is where template files are (default: the working directory). */
export function defineWorkflow(spec: WorkflowSpec, opts: { dir?: string; read?: ReadFile } = {}): Workflow {
  const places = placesWithoutLines(`workflow ${spec.name || "(without a name)"}`);
  return build(spec, places, opts.read ?? filesBelow(opts.dir ?? process.cwd()));
}

function build(value: unknown, places: Places, read: ReadFile): Workflow {
  const spec = readShape(value, places);
  if (!spec) throw problemError(places.problems);
  // What its names are decides what else can be said.
  checkGraph(spec, places);
  if (places.problems.length > 0) throw problemError(places.problems);
  const inputs: Workflow["inputs"] = {};
  for (const [key, written] of Object.entries(spec.inputs ?? {})) {
    const typed = readSchema(written, ["inputs", key], places);
    if (typed) inputs[key] = withDefault(key, typed, places);
  }
  const phases = spec.phases.map((phase, i) => buildPhase(phase, ["phases", i], places, read));
  const workflow: Workflow = {
    name: spec.name,
    description: spec.description ?? "",
    file: places.file,
    inputs,
    concurrency: spec.concurrency ?? DEFAULT_CONCURRENCY,
    budget: spec.budget ?? {},
    phases,
  };
  checkNames(workflow, places);
  if (places.problems.length > 0) throw problemError(places.problems);
  return { ...workflow, phases: phasesInOrder(phases) };
}

function withDefault(key: string, typed: Typed, places: Places): Typed & { default?: unknown } {
  if (typeof typed.schema === "boolean" || !("default" in typed.schema)) return typed;
  const value = typed.schema.default;
  const wrong = typed.check(value);
  if (wrong)
    places.report(
      ["inputs", key, "default"],
      `the default of ${key} does not fit: ${wrong}`,
      "Correct one of the two.",
    );
  return { ...typed, default: value };
}

function buildPhase(spec: PhaseSpec, at: At, places: Places, read: ReadFile): Phase {
  const exports: Record<string, Typed> = {};
  for (const [key, written] of Object.entries(spec.exports ?? {})) {
    const typed = readSchema(written, [...at, "exports", key], places);
    if (typed) exports[key] = typed;
  }
  const phase: Phase = {
    id: spec.id,
    title: spec.title ?? spec.id,
    agent: spec.wait ? "person" : (spec.agent ?? "general-purpose"),
    reads: spec.reads ?? [],
    exports,
    needs: [...new Set(spec.needs ?? [])],
    retry: spec.retry ?? 0,
    budget: spec.budget ?? {},
    wait: spec.wait !== undefined,
  };
  const prompt = promptOf(spec, at, places, read);
  if (prompt) phase.prompt = prompt;
  if (spec.concurrency !== undefined) phase.concurrency = spec.concurrency;
  if (spec.timeout !== undefined) phase.timeoutMs = durationMs(spec.timeout);
  if (spec.when !== undefined) {
    const found = readCondition(spec.when);
    if ("wrong" in found) places.report([...at, "when"], `when: ${bare(found.wrong)}`, "See docs/workflows.md.");
    else phase.when = { condition: found.condition, text: spec.when };
  }
  if (spec.foreach !== undefined) {
    const found = readPath(spec.foreach);
    if ("wrong" in found) places.report([...at, "foreach"], `foreach: ${bare(found.wrong)}`, "See docs/workflows.md.");
    else phase.foreach = { path: found.path, text: spec.foreach };
  }
  const until = spec.until && untilOf(spec.id, spec.until, at, places);
  if (until) phase.until = until;
  return phase;
}

function untilOf(id: string, until: NonNullable<PhaseSpec["until"]>, at: At, places: Places): Until | undefined {
  const { when, max, repeat, exhausted = "fail" } = until;
  const found = readCondition(when);
  if ("wrong" in found) {
    places.report([...at, "until", "when"], `until: ${bare(found.wrong)}`, "See docs/workflows.md.");
    return undefined;
  }
  return { when: found.condition, text: when, max, repeat: [...new Set([...repeat, id])], exhausted };
}

function promptOf(spec: PhaseSpec, at: At, places: Places, read: ReadFile): Phase["prompt"] {
  const { prompt } = spec;
  if (prompt !== undefined) {
    const first = places.textLine([...at, "prompt"]);
    const name = first === undefined ? `${places.file}, prompt of ${spec.id}` : places.file;
    // Lines are counted from where the text stands in the file: empty lines before it are no part of the prompt.
    const before = first === undefined ? 0 : first - 1;
    const template = parsed(() => parseTemplate({ text: prompt, file: name, kind: "markdown" }), places, before);
    return template && { template: shifted(template, before), include: () => undefined };
  }
  if (spec.template === undefined) return undefined;
  let file: string;
  try {
    file = includePath(createSource("", ""), 0, spec.template);
  } catch (error) {
    places.report(
      [...at, "template"],
      bare(messageOf(error).replace(/^:\d+:\d+: /, "")),
      "It is read from the workflow's directory.",
    );
    return undefined;
  }
  const text = read(file);
  if (text === undefined) {
    const where = path.posix.join(path.posix.dirname(places.file), file);
    places.report([...at, "template"], `there is no file ${where}`, "Check the path, seen from the workflow's file.");
    return undefined;
  }
  const shown = path.posix.join(path.posix.dirname(places.file), file);
  const include = (asked: string) => read(path.posix.join(path.posix.dirname(file), asked));
  const template = parsed(() => parseTemplate({ text, file: shown }), places, 0);
  return template && { template, include };
}

function shifted(template: Template, lines: number): Template {
  if (lines === 0) return template;
  const variables: Template["variables"] = (opts) =>
    template.variables(opts).map((one) => ({ ...one, line: one.line + lines }));
  return { ...template, variables };
}

function parsed(parse: () => Template, places: Places, before: number): Template | undefined {
  try {
    return parse();
  } catch (error) {
    const { file, line } = isHoldfastError(error) && isRecord(error.detail) ? error.detail : {};
    if (typeof file !== "string" || typeof line !== "number") throw error;
    const what = messageOf(error)
      .slice(`${file}:`.length)
      .replace(/^\d+:\d+: /, "");
    places.add({ file, line: line + before, ...split(what) });
    return undefined;
  }
}

const bare = (sentences: string): string => sentences.replace(/\.$/, "");

function split(message: string): { what: string; advice: string } {
  const end = message.indexOf(". ");
  return end < 0
    ? { what: bare(message), advice: "" }
    : { what: message.slice(0, end), advice: message.slice(end + 2) };
}

/** Files of a directory; links that lead out of it are not followed. */
function filesBelow(dir: string): ReadFile {
  return (file) => {
    let real: string;
    try {
      const root = fs.realpathSync(dir);
      real = fs.realpathSync(path.join(root, file));
      if (!real.startsWith(root + path.sep)) return undefined;
    } catch {
      return undefined;
    }
    try {
      return readTextFile(real);
    } catch (cause) {
      throw new HoldfastError("invalid", `Cannot read ${file}: ${messageOf(cause)}. Name a text file there.`, {
        cause,
      });
    }
  };
}
