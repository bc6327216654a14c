import { describe, expect, it } from "vitest";
import { select } from "../../src/contexts/json-path.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";

const value = {
  items: [
    { name: "a", n: 1 },
    { name: "b", n: 2 },
    { name: "c", n: 3 },
  ],
  "it's": { "x.y": [[1, 2], [3]] },
};

describe("a path", () => {
  it.each([
    ["$", value],
    ["$.items[1].name", "b"],
    ["items[-1].n", 3],
    ["$.items[*].name", ["a", "b", "c"]],
    ["$.items[1:].n", [2, 3]],
    ["$.items[:-1].n", [1, 2]],
    ["$.items[::-1].n", [3, 2, 1]],
    ["$.items[0:3:2].n", [1, 3]],
    ["$.items[7]", undefined],
    ["$.items.name", undefined],
    ["$.toString", undefined],
    ["$['it\\'s'][\"x.y\"][*][0]", [1, 3]],
    ["$.items[0].*", ["a", 1]],
  ])("%s selects", (path, expected) => {
    expect(select(value, path)).toEqual(expected);
  });

  it.each(["$..name", "$.items[?(@.n>1)]", "$.items[0,1]", "$.items[", "$.", "$.items[::0]", "$ items"])(
    "%s is refused with its place",
    (path) => {
      try {
        select(value, path);
        expect.unreachable();
      } catch (error) {
        expect([isHoldfastError(error, "invalid"), (error as Error).message]).toEqual([
          true,
          expect.stringMatching(/at character \d+: write \$\.name/),
        ]);
      }
    },
  );
});
