// What of the shared data goes into a prompt: small values whole, large ones by reference, never more than the budget.
import type { Context } from "../contexts/context.ts";
import type { SharedInfo } from "../contexts/shared-data.ts";
import { asData, nameAsData, quotedAsData } from "../templates/data.ts";

/** Bytes of shared data in one prompt, references included. */
export const INJECTION_BYTES = 8_192;
const PREVIEW_CHARS = 120;
/** A line for each value that did not fit, as long as there is room for it. */
const REFERENCE_BYTES = 400;

/** Contract: at most `budget` bytes, whatever the size of the data; values are marked as data with their origin. */
export async function injectShared(
  context: Pick<Context, "list" | "read">,
  keys: readonly string[] | "all",
  budget = INJECTION_BYTES,
): Promise<string> {
  const infos = (await context.list()).filter((info) => keys === "all" || keys.includes(info.key));
  const missing = keys === "all" ? [] : keys.filter((key) => !infos.some((info) => info.key === key));
  const whole: string[] = [];
  const references: string[] = [];
  let left = budget - Math.min(budget / 2, REFERENCE_BYTES * infos.length);
  for (const info of infos.toSorted((a, b) => a.bytes - b.bytes)) {
    const text = info.bytes * 2 < left ? asData(await context.read(info.key), { origin: originOf(info) }) : undefined;
    const block = text === undefined ? undefined : `## ${nameAsData(info.key)}\n\n${text}`;
    const size = block === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(block) + 1;
    if (block !== undefined && size <= left) {
      whole.push(block);
      left -= size;
    } else references.push(reference(info));
  }
  const parts = [
    ...whole.toSorted(),
    ...referenceBlock(references),
    ...missing.map((key) => `(${nameAsData(key)} is not there yet.)`),
  ];
  return cutBytes(parts.join("\n"), budget);
}

const originOf = ({ key, author, version }: SharedInfo): string =>
  `shared data ${key}, by ${author}, version ${version}`;

const reference = ({ key, type, bytes, version, author, preview }: SharedInfo): string =>
  `- ${nameAsData(key)}: ${type}, ${bytes} bytes, version ${version}, by ${nameAsData(author)}; begins ${quotedAsData(preview.slice(0, PREVIEW_CHARS))}`;

function referenceBlock(lines: string[]): string[] {
  if (lines.length === 0) return [];
  return [
    `## By reference\n\nToo large to show. Read a part with context_read (key, path such as $.items[0:10]).\n\n${lines.join("\n")}`,
  ];
}

function cutBytes(text: string, budget: number): string {
  if (Buffer.byteLength(text) <= budget) return text;
  const note = "\n(more keys: context_list)";
  return `${Buffer.from(text)
    .subarray(0, budget - note.length - 4)
    .toString("utf8")
    .replace(/\ufffd+$/, "")}${note}`;
}
