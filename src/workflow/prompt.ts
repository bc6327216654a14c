// The prompt of a phase: its template filled from shared data, and the data it reads, marked as data and within a bound.
import type { Context } from "../contexts/context.ts";
import type { SharedInfo } from "../contexts/shared-data.ts";
import { injectShared } from "../hub/injection.ts";
import { asData } from "../templates/data.ts";
import { keysOf } from "./condition.ts";
import type { Phase } from "./definition.ts";

export interface PromptParts {
  context: Context;
  phase: { id: string; agent: string };
  /** The template, filled. */
  text: string;
  reads: string[];
}

/** Puts together what an agent is told. */
export type Compose = (parts: PromptParts) => string | Promise<string>;

export interface ItemValues {
  item: unknown;
  index: number;
}

/** Contract: throws HoldfastError with file, line and variable when a value is missing. */
export async function fillTemplate(context: Context, phase: Phase, item?: ItemValues): Promise<string> {
  if (!phase.prompt) return "";
  const { template, include } = phase.prompt;
  const values: Record<string, unknown> = { ...item };
  const marked: Record<string, string> = {};
  const infos = new Map((await context.list()).map((one) => [one.key, one]));
  for (const { name } of template.variables({ include })) {
    const [root = "", second] = keysOf(name).map(String);
    const key = root === "data" ? second : root;
    const info = key === undefined ? undefined : infos.get(key);
    if (key === undefined || !info || (item && Object.hasOwn(item, root))) continue;
    if (Object.hasOwn(root === "data" ? marked : values, key)) continue;
    if (root === "data") marked[key] = asData(await context.read(key), { origin: originOf(info) });
    else values[key] = await context.read(key);
  }
  return template.render({ ...values, data: marked }, { include });
}

/** Values within the bound go in whole, larger ones as what they are and how to get a part. */
export const composePrompt: Compose = async ({ context, text, reads }) => {
  const shared = reads.length > 0 ? await injectShared(context, reads) : "";
  return shared === "" ? text : `${text.trimEnd()}\n\n# Shared context\n\n${shared}`;
};

const originOf = ({ key, author }: SharedInfo): string => `shared data ${key}, by ${author}`;
