import { expect, test } from "vitest";
import { sameJson } from "../../src/ledger/same-json.ts";

test("values are the same when JSON makes the same of them, in whichever order their keys stand", () => {
  const same: [unknown, unknown][] = [
    [
      { a: 1, b: [{ c: 2, d: undefined }] },
      { b: [{ c: 2 }], a: 1 },
    ],
    [undefined, undefined],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
  ];
  const other: [unknown, unknown][] = [
    [
      [1, 2],
      [2, 1],
    ], // the order of a list is part of it
    [{ a: 1 }, { a: "1" }],
    [undefined, null],
    [{}, []],
  ];
  expect([same.map(([a, b]) => sameJson(a, b)), other.map(([a, b]) => sameJson(a, b))]).toEqual([
    [true, true, true],
    [false, false, false, false],
  ]);
});
