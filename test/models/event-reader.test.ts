import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventReader } from "../../src/models/http-stream.ts";

function read(bytes: Buffer, cuts: number[]): string[] {
  const events: string[] = [];
  const reader = createEventReader((data) => events.push(data));
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  [0, ...at].forEach((from, i) => {
    reader.feed(bytes.subarray(from, at[i] ?? bytes.length));
  });
  reader.flush();
  return events;
}

test("events come out the same wherever the network cuts them, with any line ends, a byte order mark, names and comments between", () => {
  const payload = fc.string({ unit: "binary" }).map((text) => JSON.stringify({ text }));
  const newline = fc.constantFrom("\n", "\r\n", "\r");
  fc.assert(
    fc.property(
      fc.array(payload, { maxLength: 6 }),
      newline,
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.constantFrom("", "\ufeff"),
      (payloads, nl, cuts, mark) => {
        const wire = mark + payloads.map((data) => `: ping${nl}event: x${nl}data: ${data}${nl}${nl}`).join("");
        expect(read(Buffer.from(wire), cuts)).toEqual(payloads);
      },
    ),
  );
});

test("data lines of one event are joined, and a missing blank line at the end does not lose it", () => {
  expect(read(Buffer.from("data: a\ndata:b\n\ndata: c"), [3, 9])).toEqual(["a\nb", "c"]);
});
