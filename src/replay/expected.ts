// Differences that a later version is meant to have from a recording: listed beside it, so that only new ones are told.
import { readFile } from "node:fs/promises";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode, isRecord } from "../ledger/guards.ts";
import type { Difference } from "./compare.ts";

/** By place and kind; `why` is for people. */
export interface Expected extends Pick<Difference, "seq" | "kind" | "mechanism"> {
  why?: string;
}

/** Where the list of a recording stands. */
export const expectedBeside = (file: string): string => `${file.replace(/\.jsonl$/, "")}.expected.json`;

/** Contract: none where there is no list. */
export async function readExpected(file: string): Promise<Expected[]> {
  let text: string;
  try {
    text = await readFile(expectedBeside(file), "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list) || !list.every(isExpected))
    throw new HoldfastError("invalid", `${expectedBeside(file)} is no list of {seq, kind, mechanism, why}`);
  return list;
}

const isExpected = (value: unknown): value is Expected =>
  isRecord(value) &&
  typeof value.seq === "number" &&
  typeof value.kind === "string" &&
  typeof value.mechanism === "string";

/** What is not listed, and what is listed and no longer there. */
export function againstExpected(
  differences: readonly Difference[],
  expected: readonly Expected[],
): { unexpected: Difference[]; gone: Expected[] } {
  const isOne = (a: Expected, b: Difference) => a.seq === b.seq && a.kind === b.kind && a.mechanism === b.mechanism;
  return {
    unexpected: differences.filter((one) => !expected.some((known) => isOne(known, one))),
    gone: expected.filter((known) => !differences.some((one) => isOne(known, one))),
  };
}
