// What names a model: `provider/name`, or a bare name that means one model alone.
import { HoldfastError } from "../ledger/error.ts";
import { nearestName } from "../text/similarity.ts";
import { bareNames, DEFAULT_ANTHROPIC, DEFAULT_OPENAI, modelsNamed } from "./catalogue.ts";

/** Claude Code's words for the model that is there anyway. */
export const isNoModel = (given: string): boolean => given === "default" || given === "inherit";

/** `provider/name`: as it is given, or by a bare name that means one model alone (`sonnet`, `gpt-5`). Contract: throws `invalid`, with what to type. */
export function modelSpec(given: string): string {
  if (given.startsWith("rehearsal") || /^[^/]+\/./.test(given)) return given;
  const found = given.includes("/") || given === "" ? [] : modelsNamed(given);
  if (found[0] !== undefined && found.length === 1) return found[0];
  const near = given.includes("/") ? undefined : nearestName(given, bareNames());
  const advice =
    found.length > 1
      ? `it may be ${found.slice(0, 5).join(", ")}`
      : `${near ? `did you mean ${near}? Or ` : ""}try ${DEFAULT_ANTHROPIC}, ${DEFAULT_OPENAI}${given === "" || given.includes("/") ? "" : `, ollama/${given}`}`;
  throw new HoldfastError("invalid", `model "${given}" is not provider/name: ${advice}`);
}
