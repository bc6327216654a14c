// Lines of a diff, from a unified patch or from two texts: each with its sign and its numbers. Bounded.

export interface DiffLine {
  /** `@`: about the diff, not of it. */
  sign: "+" | "-" | " " | "@";
  text: string;
  /** Its number before and after. */
  before?: number;
  after?: number;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const CONTEXT = 3;
/** Pairs of lines that are compared; what differs more is shown as one block. */
const MOST_PAIRS = 1_000_000;

/** Of one file. What is no patch is given as it is, as lines about it. */
export function patchLines(patch: string): DiffLine[] {
  const lines = patch.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => HUNK.test(line));
  if (first < 0) return lines.map((text) => ({ sign: "@", text }));
  let [before, after] = [0, 0];
  return lines.slice(first).map((line): DiffLine => {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      return { sign: "@", text: line };
    }
    const text = line.slice(1);
    if (line.startsWith("+")) return { sign: "+", text, after: after++ };
    if (line.startsWith("-")) return { sign: "-", text, before: before++ };
    if (line.startsWith("\\")) return { sign: "@", text: text.trim() };
    return { sign: " ", text, before: before++, after: after++ };
  });
}

/** Empty: nothing differs. */
export function comparedLines(before: string, after: string): DiffLine[] {
  if (before === after) return [];
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const signed = [
    ...a.slice(0, start).map((text) => ({ sign: " ", text }) as DiffLine),
    ...aligned(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map((text) => ({ sign: " ", text }) as DiffLine),
  ];
  return folded(numbered(signed));
}

const signed = (sign: DiffLine["sign"], texts: readonly string[]): DiffLine[] => texts.map((text) => ({ sign, text }));

/** The longest common lines stay; the rest goes or comes. */
function aligned(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1;
  if (a.length * b.length > MOST_PAIRS) return [...signed("-", a), ...signed("+", b)];
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i]! });
      i++;
      j++;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) lines.push({ sign: "-", text: a[i++]! });
    else lines.push({ sign: "+", text: b[j++]! });
  }
  return [...lines, ...signed("-", a.slice(i)), ...signed("+", b.slice(j))];
}

function numbered(lines: readonly DiffLine[]): DiffLine[] {
  let [before, after] = [1, 1];
  return lines.map(({ sign, text }) => ({
    ...{ sign, text },
    ...(sign !== "+" && { before: before++ }),
    ...(sign !== "-" && { after: after++ }),
  }));
}

/** What is the same stays only near what differs. */
function folded(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Uint8Array(lines.length);
  lines.forEach(({ sign }, i) => {
    if (sign !== " ") near.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
  });
  const shown: DiffLine[] = [];
  let left = 0;
  const say = () => {
    if (left > 0) shown.push({ sign: "@", text: left === 1 ? "1 line is the same" : `${left} lines are the same` });
    left = 0;
  };
  lines.forEach((line, i) => {
    if (!near[i]) {
      left++;
      return;
    }
    say();
    shown.push(line);
  });
  say();
  return shown;
}
