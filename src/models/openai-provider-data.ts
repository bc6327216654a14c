// What comes with a reply on the Chat Completions wire and has to go back with it, to the model that wrote it and to no other.

/** Kept with a part of the reply in the ledger; only this adapter reads it. */
export interface ReasoningData {
  /** The field of the message that held the text. `content`: a part of the content, as Mistral sends it. */
  field?: "reasoning_content" | "reasoning" | "content";
  /** OpenRouter's, one entry a block. */
  details?: Detail[];
  /** Google's, of the message itself. */
  extra?: unknown;
}

export interface CallData {
  /** Google's, with the signature of the thought behind the call. */
  extra?: unknown;
}

export type Detail = { index?: number; type?: string } & Record<string, unknown>;

/** Fields of a detail that are streamed in pieces; of all others the last piece holds. */
const STREAMED = ["text", "summary", "data"];

/** Pieces of one block share index and type; a signature counts only behind its whole text. */
export function addDetails(known: Detail[], pieces: readonly Detail[]): void {
  for (const piece of pieces) {
    const open =
      piece.index === undefined ? undefined : known.find((one) => one.index === piece.index && one.type === piece.type);
    if (!open) {
      known.push({ ...piece });
      continue;
    }
    for (const [key, value] of Object.entries(piece)) {
      if (value === null || value === undefined) continue;
      const before = open[key];
      open[key] = STREAMED.includes(key) && typeof before === "string" ? before + String(value) : value;
    }
  }
}

/** What a family of models wants in replies that it did not write. */
export interface Family {
  /** DeepSeek: each reply has the field, if only empty. */
  emptyReasoning: boolean;
  /** Gemini: a call without a signature of its own says that there is none. */
  unsignedCalls: boolean;
}

export const familyOf = (name: string): Family => ({
  emptyReasoning: /deepseek/i.test(name),
  unsignedCalls: /gemini-(?:[3-9]|\d\d)/i.test(name),
});

/** Google's own word for a call that another model made. */
export const UNSIGNED: CallData = { extra: { google: { thought_signature: "skip_thought_signature_validator" } } };

/** The limit of the output as a model names it. */
export type LimitField = "max_tokens" | "max_completion_tokens";

/** OpenAI's models since o1 refuse `max_tokens`, wherever they are served; everyone else takes it, and some nothing but it. */
const COMPLETION_TOKENS = /(?:^|\/)(?:o\d|gpt-(?:[5-9]|\d\d))/i;

export const limitFieldOf = (name: string): LimitField =>
  COMPLETION_TOKENS.test(name) ? "max_completion_tokens" : "max_tokens";

export const otherLimitField = (field: LimitField): LimitField =>
  field === "max_tokens" ? "max_completion_tokens" : "max_tokens";
