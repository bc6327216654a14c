// Owns the diff a person sees: unified, three lines of context.

const CONTEXT = 3;
/** Past this the changed middle is shown as one block: the exact alignment is not worth the wait. */
const MAX_CELLS = 4_000_000;

type Step = { kind: " " | "-" | "+"; text: string };

export function lineDiff(path: string, before: string, after: string): string {
  const steps = align(toLines(before), toLines(after));
  const out = [`--- ${before === "" ? "/dev/null" : path}`, `+++ ${path}`];
  for (const [from, to] of hunks(steps)) {
    const oldStart = steps.slice(0, from).filter((s) => s.kind !== "+").length;
    const newStart = steps.slice(0, from).filter((s) => s.kind !== "-").length;
    const part = steps.slice(from, to);
    const oldCount = part.filter((s) => s.kind !== "+").length;
    const newCount = part.filter((s) => s.kind !== "-").length;
    out.push(
      `@@ -${oldCount ? oldStart + 1 : oldStart},${oldCount} +${newCount ? newStart + 1 : newStart},${newCount} @@`,
    );
    for (const step of part) out.push(step.kind + step.text);
  }
  return out.length === 2 ? "" : out.join("\n");
}

function toLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function align(a: string[], b: string[]): Step[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (text: string): Step => ({ kind: " ", text });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

/** Longest common subsequence, by the table: edits are small once the common ends are off. */
function middle(a: string[], b: string[]): Step[] {
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  if (a.length * b.length <= MAX_CELLS) {
    const width = b.length + 1;
    const longest = new Uint32Array((a.length + 1) * width);
    for (let y = a.length - 1; y >= 0; y--) {
      for (let x = b.length - 1; x >= 0; x--) {
        longest[y * width + x] =
          a[y] === b[x]
            ? longest[(y + 1) * width + x + 1]! + 1
            : Math.max(longest[(y + 1) * width + x]!, longest[y * width + x + 1]!);
      }
    }
    while (i < a.length && j < b.length) {
      if (a[i] === b[j]) {
        steps.push({ kind: " ", text: a[i]! });
        i++;
        j++;
      } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) {
        steps.push({ kind: "-", text: a[i++]! });
      } else steps.push({ kind: "+", text: b[j++]! });
    }
  }
  while (i < a.length) steps.push({ kind: "-", text: a[i++]! });
  while (j < b.length) steps.push({ kind: "+", text: b[j++]! });
  return steps;
}

/** Ranges of steps around changes; those that touch become one. */
function hunks(steps: Step[]): [number, number][] {
  const out: [number, number][] = [];
  steps.forEach((step, i) => {
    if (step.kind === " ") return;
    const from = Math.max(0, i - CONTEXT);
    const to = Math.min(steps.length, i + CONTEXT + 1);
    const last = out.at(-1);
    if (last && from <= last[1]) last[1] = to;
    else out.push([from, to]);
  });
  return out;
}
