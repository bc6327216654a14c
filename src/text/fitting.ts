// Lists that fit: the first lines whole, the others counted.

/** Those of the lines that fit into so many characters, in order; of the others one line, as `rest` counts them. */
export function fittingLines(lines: readonly string[], room: number, rest: (count: number) => string): string[] {
  const whole = countFitting(lines, room);
  if (whole === lines.length) return [...lines];
  const count = countFitting(lines, room - rest(lines.length).length - 1);
  return [...lines.slice(0, count), rest(lines.length - count)];
}

function countFitting(lines: readonly string[], room: number): number {
  let left = room;
  const over = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  return over < 0 ? lines.length : over;
}

/**
 * Each of the texts whole while there is room, then in its short form, and of what not even fits so one line, as `rest` counts them.
 * Contract: in order; about as long as the room at most.
 */
export function fittingTexts(
  texts: readonly { whole: string; short: string }[],
  room: number,
  rest: (count: number) => string,
): string[] {
  const shorts = texts.map(({ short }) => short);
  const named = fittingLines(shorts, room, rest);
  let left = room - named.reduce((sum, line) => sum + line.length + 2, 0);
  return named.map((line, i) => {
    const text = texts[i];
    if (!text || line !== text.short || text.whole.length - line.length > left) return line;
    left -= text.whole.length - line.length;
    return text.whole;
  });
}
