// The schemas of events accept what zod's of the same name accept, and keep the same of it.
import fc from "fast-check";
import { expect, test } from "vitest";
import * as zod from "zod";
import * as own from "../../src/ledger/event-schema.ts";
import { explain } from "../../src/ledger/events.ts";

type Library = Pick<typeof own, "string" | "number" | "boolean" | "unknown" | "array" | "object" | "looseObject"> &
  Pick<typeof own, "literal" | "enum" | "record" | "discriminatedUnion">;

/** One that has everything: written once, made by both. */
const everything = (z: Library) =>
  z.object({
    text: z.string(),
    word: z.string().regex(/^\w+$/).optional(),
    count: z.number().nonnegative(),
    isSo: z.boolean().nullable(),
    any: z.unknown(),
    maybe: z.string().nullish(),
    one: z.literal(true).optional(),
    option: z.enum(["a", "b"]),
    list: z.array(z.object({ x: z.number(), y: z.string().optional() })),
    names: z.record(z.string(), z.object({ n: z.number().optional() })),
    loose: z.looseObject({ k: z.string().optional() }).optional(),
    part: z.discriminatedUnion("type", [
      z.object({ type: z.literal("text"), text: z.string() }),
      z.object({ type: z.literal("call"), id: z.string() }).extend({ input: z.unknown() }),
    ]),
  });

const ours = everything(own);
const theirs = everything(zod as unknown as Library) as unknown as zod.ZodType;

const right = {
  text: fc.string(),
  word: fc.constantFrom(undefined, "word"),
  count: fc.nat(),
  isSo: fc.constantFrom(true, false, null),
  any: fc.jsonValue(),
  maybe: fc.constantFrom(undefined, null, "x"),
  one: fc.constantFrom(undefined, true),
  option: fc.constantFrom("a", "b"),
  list: fc.array(fc.record({ x: fc.integer(), y: fc.string(), other: fc.nat() }, { requiredKeys: ["x"] })),
  names: fc.dictionary(fc.string(), fc.record({ n: fc.nat() }, { requiredKeys: [] })),
  loose: fc.option(
    fc.dictionary(
      fc.string().filter((key) => key !== "k"),
      fc.jsonValue(),
    ),
    { nil: undefined },
  ),
  part: fc.oneof(
    fc.record({ type: fc.constant("text"), text: fc.string(), more: fc.nat() }),
    fc.record({ type: fc.constant("call"), id: fc.string(), input: fc.jsonValue() }),
  ),
};
/** Right for the most part: each field is sometimes something else, or missing. */
const mixed = fc.record(
  Object.fromEntries(
    Object.entries(right).map(([key, value]) => [key, fc.oneof({ weight: 12, arbitrary: value }, fc.jsonValue())]),
  ),
  { requiredKeys: ["text", "count", "option"] },
);

test("they accept the same, and keep the same of it, in the same order", () => {
  fc.assert(
    fc.property(fc.oneof(fc.record(right), mixed), (data) => {
      const [mine, zods] = [ours.safeParse(data), theirs.safeParse(data)];
      expect(mine.success).toBe(zods.success);
      expect(mine.success && JSON.stringify(mine.data)).toBe(zods.success && JSON.stringify(zods.data));
      const places = (of: typeof mine | typeof zods) =>
        of.success ? [] : of.error.issues.map((issue) => issue.path.join(".")).toSorted();
      expect(places(mine)).toEqual(places(zods));
    }),
    { numRuns: 500 },
  );
});

test("what is wrong is said with its place, in zod's words", () => {
  const data = { text: 1, count: -1, option: "c", list: [{ x: "1" }], names: [], part: { type: "text" } };
  const said = (of: { success: boolean; error?: { issues: { path: PropertyKey[]; message: string }[] } }) =>
    explain({ issues: of.error?.issues ?? [] })
      .split("; ")
      .toSorted();
  expect(said(ours.safeParse(data))).toEqual(said(theirs.safeParse(data) as never));
});
