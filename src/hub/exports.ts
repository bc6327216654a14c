// What an agent hands in: checked against its schemas, written with provenance and on its own authority.

import type { Context } from "../contexts/context.ts";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";
import type { Assignment } from "./events.ts";

interface From {
  agent: string;
  /** The call, or the place in the final text: a repetition after a crash adds nothing. */
  call: string;
}

/**
 * Contract: all or nothing. Throws `invalid` with key, path and reason, or `refused` with whose the key is, and the context is untouched.
 * `context` is that agent's own (`contexts.get(id, { agent })`): what it may write is decided there.
 */
export async function exportValues(
  context: Pick<Context, "shareAll" | "history">,
  assigned: Assignment,
  values: Record<string, unknown>,
  { agent, call }: From,
): Promise<string[]> {
  const keys = Object.keys(values);
  if (keys.length === 0)
    throw new HoldfastError("invalid", `nothing was exported: wanted ${Object.keys(assigned.exports).join(", ")}`);
  const known = Object.keys(assigned.exports);
  for (const key of keys) {
    if (known.length > 0 && !known.includes(key)) {
      throw new HoldfastError("invalid", `${key} was not asked for: export ${known.join(", ")}`);
    }
    const schema = own(assigned.exports, key);
    if (schema !== undefined) await check(key, schema, values[key]);
  }
  const fresh: [string, unknown][] = [];
  for (const key of keys) {
    const given = (await context.history(key)).some((entry) => entry.author === agent && entry.call === call);
    if (!given) fresh.push([key, values[key]]);
  }
  if (fresh.length > 0) await context.shareAll(Object.fromEntries(fresh), { call });
  return keys;
}

async function check(key: string, schema: unknown, value: unknown): Promise<void> {
  const z = await import("zod");
  const parsed = z.fromJSONSchema(schema as never).safeParse(value);
  if (parsed.success) return;
  const { path, message } = parsed.error.issues[0]!;
  throw new HoldfastError(
    "invalid",
    `${key}${path.map((p) => (typeof p === "number" ? `[${p}]` : `.${String(p)}`)).join("")}: ${message}. Export it again, as the schema says`,
  );
}

/** A fenced block of the final text that is named so: ```json export_to_context */
export function exportsInText(text: string): Record<string, unknown> | undefined {
  const block = /^(`{3,})json[ \t]+export_to_context[ \t]*\n([\s\S]*?)^\1[ \t]*$/m.exec(text)?.[2];
  if (block === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(block);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
