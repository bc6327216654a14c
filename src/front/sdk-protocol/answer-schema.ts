// `--json-schema`: the answer of a turn is one JSON value that fits; what does not fit is sent back, with where and why, twice at most.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { explain } from "../../ledger/events.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { oneLine } from "../presentation/printable.ts";

/** `why`: for the model; `says`: for people. */
export type SchemaAnswer = { fits: true; value: unknown } | { fits: false; why: string; says: string };

export interface AnswerSchema {
  mechanism: Mechanism;
  read(text: string): SchemaAnswer;
}

const ORIGIN = "answer-schema";
const MOST_TRIES = 2;

/** JSON begins with a brace; anything else is a file. Contract: throws `invalid` when it is no schema. */
export async function openAnswerSchema(given: string): Promise<AnswerSchema> {
  const schema = schemaIn(given);
  const { fromJSONSchema } = await import("zod");
  let built: ReturnType<typeof fromJSONSchema>;
  try {
    built = fromJSONSchema(schema as Parameters<typeof fromJSONSchema>[0]);
  } catch (error) {
    throw new HoldfastError("invalid", `--json-schema cannot be used: ${messageOf(error)}`, { cause: error });
  }
  const read = (text: string): SchemaAnswer => {
    const json = jsonIn(text);
    if (json === undefined) return misfit("it is not JSON");
    const parsed = built.safeParse(json.value);
    return parsed.success ? { fits: true, value: json.value } : misfit(explain(parsed.error));
  };
  const asks = `Your last reply, when all work is done, is one JSON value that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
  const mechanism = defineMechanism({
    name: ORIGIN,
    seams: {
      system: (turn) => (isLead(turn) ? asks : ""),
      stop(turn, reply) {
        const answer = isLead(turn) ? read(textOf(reply.parts)) : undefined;
        if (!answer || answer.fits || triesIn(turn) >= MOST_TRIES) return [];
        const text = `Your reply does not fit the JSON Schema: ${answer.why}. Reply again with the JSON value alone.`;
        return [{ origin: ORIGIN, text }];
      },
    },
  });
  return { mechanism, read };
}

const misfit = (why: string): SchemaAnswer => ({
  fits: false,
  why,
  says: `The answer does not fit --json-schema: ${oneLine(why, 300)}`,
});

/** The others answer to it. */
const isLead = ({ agent }: Pick<Turn, "agent">): boolean => agent === "lead";

const triesIn = ({ state }: Turn): number =>
  state.items
    .slice(state.turn?.from ?? 0)
    .filter((item) => item.kind === "user" && textOf(item.content).includes(`<note from="${ORIGIN}">`)).length;

function schemaIn(given: string): unknown {
  const isJson = given.trim().startsWith("{");
  try {
    return JSON.parse(isJson ? given : readFileSync(resolve(given), "utf8"));
  } catch (error) {
    const what = isJson ? "--json-schema is not JSON" : `--json-schema ${given} cannot be read`;
    throw new HoldfastError("invalid", `${what}: ${messageOf(error)}`, { cause: error });
  }
}

/** Bare, or in a fence around all of it. */
function jsonIn(text: string): { value: unknown } | undefined {
  const [, fenced] = /^\s*```(?:json)?\n([\s\S]*?)\n```\s*$/.exec(text) ?? [];
  try {
    return { value: JSON.parse(fenced ?? text) };
  } catch {
    return undefined;
  }
}
