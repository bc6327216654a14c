// The small steps that the tests of the suite are made of.
import { isHoldfastError } from "../ledger/error.ts";
import type { EventInput, Lease, Store, StoredEvent } from "../ledger/store.ts";

/** The part of a test framework that the suite needs; vitest's own functions fit. */
export interface Framework {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  expect(actual: unknown): { toEqual(expected: unknown): void };
}

export interface ConformanceOptions {
  leaseMs?: number;
  interactive?: boolean;
}

/** A fresh store, and the door to open the same one again. */
interface ConformanceScene {
  store: Store;
  open(opts?: ConformanceOptions): Promise<Store>;
  expect: Framework["expect"];
}

/** By what they say. */
export type ConformanceTests = Record<string, (scene: ConformanceScene) => Promise<void>>;

export function event(n: number, more: Partial<EventInput> = {}): EventInput {
  return { type: "t.happened", actor: "me", data: { n }, ...more };
}

export async function all(store: Store, ledger: string, opts?: Parameters<Store["read"]>[1]): Promise<StoredEvent[]> {
  return collect(store.read(ledger, opts));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of items) list.push(one);
  return list;
}

/** The one that has to be there. */
export function first<T>([one]: readonly T[]): T {
  if (one === undefined) throw new Error("nothing is there");
  return one;
}

/** Of the event that was appended. */
export function sumOf(events: readonly StoredEvent[]): string {
  const { seq, sum } = first(events);
  if (sum === undefined) throw new Error(`event ${seq} has no sum`);
  return sum;
}

export function seqs(events: StoredEvent[]): number[] {
  return events.map((one) => one.seq);
}

export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return undefined;
}

/** "ok", or the code of the error. */
export async function code(promise: Promise<unknown>): Promise<string> {
  const error = await failure(promise);
  if (error === undefined) return "ok";
  if (!isHoldfastError(error)) throw error;
  return error.code;
}

export function isLease(answer: Lease | { held: unknown }): answer is Lease {
  return "term" in answer;
}
