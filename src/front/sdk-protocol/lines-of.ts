// Reading JSON a line at a time.

/** Ended by a line feed alone: `node:readline` also ends lines at U+2028 and U+2029, which stand unescaped in JSON texts. */
export async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  input.setEncoding("utf8");
  let begun: string[] = []; // of a line whose end has not come: an image is many pieces long
  for await (const piece of input) {
    const [first = "", ...more] = String(piece).split("\n");
    begun.push(first);
    for (const next of more) {
      yield begun.join("");
      begun = [next];
    }
  }
  const rest = begun.join("");
  if (rest !== "") yield rest;
}
