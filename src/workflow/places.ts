// Where things stand in a workflow's file, and how a mistake is reported: file, line, what is wrong, what to do.
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { HoldfastError } from "../ledger/error.ts";

export type At = (string | number)[];

export interface WorkflowProblem {
  file: string;
  /** None for a workflow in TypeScript. */
  line?: number;
  /** What is wrong. No full stop. */
  what: string;
  advice: string;
}

export interface Places {
  file: string;
  /** The line of the innermost thing there is on the path; of its key with `key`. */
  line(at: At, key?: string): number | undefined;
  /** The line in the file of the first line of a text that stands at the path. */
  textLine(at: At): number | undefined;
  report(at: At, what: string, advice: string, key?: string): void;
  add(problem: WorkflowProblem): void;
  readonly problems: WorkflowProblem[];
}

/** `phases.1.needs` for a place without lines. */
const pathText = (at: At): string =>
  at
    .map((one) => (typeof one === "number" ? `[${one}]` : `.${one}`))
    .join("")
    .slice(1);

function collect(file: string, line: Places["line"], textLine: Places["textLine"]): Places {
  const problems: WorkflowProblem[] = [];
  return {
    file,
    line,
    textLine,
    problems,
    add: (problem) => problems.push(problem),
    report(at, what, advice, key) {
      const found = line(at, key);
      const where = found === undefined && at.length > 0 ? `${pathText(at)}: ` : "";
      problems.push({ file, ...(found !== undefined && { line: found }), what: where + what, advice });
    },
  };
}

export const placesWithoutLines = (file: string): Places =>
  collect(
    file,
    () => undefined,
    () => undefined,
  );

/** Contract: throws at the first thing that is not YAML: nothing after it can be trusted. */
export function readYaml(text: string, file: string): { value: unknown; places: Places } {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const lineAt = (offset: number): number => Math.max(1, counter.linePos(offset).line);

  const nodeAt = (at: At) => {
    let node: unknown = document.contents;
    let pair: unknown;
    for (const [depth, step] of at.entries()) {
      let next: unknown;
      if (isMap(node)) {
        const found = node.items.find((one) => isScalar(one.key) && one.key.value === step);
        pair = found;
        next = found?.value;
      } else if (isSeq(node) && typeof step === "number") next = node.items[step];
      if (next === undefined || next === null) return { node, pair, depth };
      node = next;
    }
    return { node, pair, depth: at.length };
  };
  const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

  const line: Places["line"] = (at, key) => {
    const { node } = nodeAt(at);
    if (key !== undefined && isMap(node)) {
      const named = node.items.find((one) => isScalar(one.key) && one.key.value === key)?.key;
      if (isScalar(named)) return lineAt(startOf(named));
    }
    return lineAt(startOf(node));
  };
  const textLine: Places["textLine"] = (at) => {
    const { node } = nodeAt(at);
    const block = isScalar(node) && (node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED");
    return lineAt(startOf(node)) + (block ? 1 : 0);
  };
  const places = collect(file, line, textLine);
  const broken = document.errors[0];
  if (broken) {
    const what = `not valid YAML: ${broken.message.replace(/\n[\s\S]*/, "").replace(/[.:]?$/, "")}`;
    places.add({ file, line: lineAt(broken.pos[0]), what, advice: "Correct the YAML there." });
    throw problemError(places.problems);
  }
  return { value: document.toJS({ maxAliasCount: 100 }), places };
}

/** The first in its words; all in the detail. */
export function problemError(found: readonly WorkflowProblem[]): HoldfastError {
  const files = [...new Set(found.map((one) => one.file))];
  const place = ({ file, line = 0 }: WorkflowProblem): number => files.indexOf(file) * 1e9 + line;
  const problems = found.toSorted((a, b) => place(a) - place(b));
  const [first, ...more] = problems.map(problemText);
  const others = more.length > 0 ? ` (${more.length} more: ${more.length > 1 ? "the first is " : ""}${more[0]})` : "";
  return new HoldfastError("invalid", `${first}${others}`, { detail: { problems } });
}

function problemText({ file, line, what, advice }: WorkflowProblem): string {
  return `${file}${line === undefined ? "" : `:${line}`}: ${what}. ${advice}`;
}
