// What happens to long strings inside events: over 8 kB they live in blobs, and come back in place when read.
import { nameBlob } from "./checksum.ts";

const SPILL_BYTES = 8192;
const PREVIEW_CHARS = 200;

interface Spilled {
  $spill: { path: (string | number)[]; hash: string; bytes: number }[];
  value: unknown;
}

/** Undefined: it has no long string, and stays as it is, at no cost beyond looking. */
export function spill(data: unknown): { data: unknown; blobs: Uint8Array[] } | undefined {
  if (!hasLong(data)) return undefined;
  const blobs: Uint8Array[] = [];
  const spilled: Spilled["$spill"] = [];
  const walk = (value: unknown, path: (string | number)[]): unknown => {
    if (typeof value === "string" && value.length > SPILL_BYTES) {
      const bytes = Buffer.from(value);
      spilled.push({ path, hash: nameBlob(bytes), bytes: bytes.length });
      blobs.push(bytes);
      return value.slice(0, PREVIEW_CHARS);
    }
    if (Array.isArray(value)) return value.map((v, i) => walk(v, [...path, i]));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v, [...path, k])]));
    }
    return value;
  };
  return { data: { value: walk(data, []), $spill: spilled } satisfies Spilled, blobs };
}

/** What lies in blobs stays there: its beginning stands for it. */
export const withoutLongTexts = (data: unknown): unknown => (isSpilled(data) ? data.value : data);

/** Contract: `missing` names the blobs that could not be had; their preview stands in their place. */
export async function unspill(
  data: unknown,
  blob: (hash: string) => Promise<Uint8Array | undefined>,
): Promise<{ data: unknown; missing: string[] }> {
  if (!isSpilled(data)) return { data, missing: [] };
  const missing: string[] = [];
  const holder = { value: data.value };
  for (const { path, hash } of data.$spill) {
    const bytes = await blob(hash);
    if (!bytes) {
      missing.push(hash);
      continue;
    }
    putBack(holder, ["value", ...path], Buffer.from(bytes).toString("utf8"));
  }
  return { data: holder.value, missing };
}

/** Paths come with the data, perhaps from a file of somebody else's: only through what it holds itself, never into what all objects share. */
function putBack(holder: object, path: (string | number)[], text: string): void {
  let at: unknown = holder;
  for (const [i, key] of path.entries()) {
    if (!hasKeys(at) || !Object.hasOwn(at, key)) return;
    if (i === path.length - 1) at[key] = text;
    else at = at[key];
  }
}

/** An object or an array. */
const hasKeys = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === "object" && value !== null;

function isSpilled(data: unknown): data is Spilled {
  return typeof data === "object" && data !== null && "$spill" in data;
}

function hasLong(value: unknown): boolean {
  if (typeof value === "string") return value.length > SPILL_BYTES;
  if (!hasKeys(value)) return false;
  for (const key in value) if (hasLong(value[key])) return true;
  return false;
}
