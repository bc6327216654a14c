// The slices of all mechanisms: what they fold is what they say they fold.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { mechanismsOf } from "../../src/harness.ts";
import { acrossTimelines, forgotten, type MechanismSlice } from "../../src/loop/timelines.ts";

const src = path.join(import.meta.dirname, "../../src");
const mechanisms = mechanismsOf({ root: "/", jobsDir: "/none" }).filter((one) => one.fold);

/** Event types that the files of a mechanism's slice compare with. */
function comparedIn(name: string): string[] {
  const dir = name === "hub" ? path.join(src, "hub") : path.join(src, "mechanisms", name);
  const files = fs.readdirSync(dir).filter((file) => file.endsWith(".ts"));
  const texts = files.map((file) => fs.readFileSync(path.join(dir, file), "utf8"));
  const slices = texts.filter((text) => /: MechanismSlice<|fold: \{/.test(text));
  expect(slices.length).toBeGreaterThan(0);
  return slices.flatMap((text) =>
    [...text.matchAll(/(?:type === |case )"([a-z]+\.[a-z]+)"/g)].map(([, type]) => type!),
  );
}

test.each(mechanisms.map((one) => [one.name, one.fold!.types] as const))(
  "%s names every event type that its fold looks at: one that is missing would never come",
  (name, types) => {
    expect(types).toBeDefined();
    expect(comparedIn(name).filter((type) => !types!.includes(type))).toEqual([]);
  },
);

test("a slice is told of restores of the conversation and of copies, and of nothing else", () => {
  const told: string[] = [];
  const slice: MechanismSlice<number> = {
    version: 1,
    types: ["x.happened"],
    initial: () => 0,
    apply: (state) => state + 1,
    timelines: {
      restored: (state, { to, from }) => {
        told.push(`back to ${to} from ${from}`);
        return state;
      },
      copied: (state, how) => {
        told.push(how);
        return state;
      },
    },
  };
  const folded = acrossTimelines(slice);
  const event = (type: string, data: object = {}) =>
    ({ type, data, seq: 9, id: "e", at: 0, v: 1, actor: "a", touches: [] }) as const;
  const restored = (conversation: boolean) => event("context.restored", { seq: 4, conversation });
  const events = [
    event("x.happened"),
    restored(true),
    restored(false),
    event("context.forked"),
    event("context.imported"),
  ];
  const state = events.reduce((before, one) => folded.apply(before, { ...one, touches: [] }), 0);
  expect([state, told]).toEqual([1, ["back to 4 from 8", "fork", "import"]]);
  expect(forgotten(() => "new").copied("old", "fork")).toBe("new");
});
