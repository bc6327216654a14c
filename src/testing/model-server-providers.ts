// How providers behind the Chat Completions wire differ: what each sends with a reply, and which requests it answers with an error.
import { sameJson } from "../ledger/same-json.ts";
import type { ScriptRequest } from "./model-server-script.ts";

export type ProviderName = "mistral" | "deepseek" | "gemini" | "openrouter" | "gpt-5-gateway";

/** Where it differs from OpenAI itself. */
interface Provider {
  /** How reasoning is streamed. */
  reasoning?(text: string, request: ScriptRequest): object[];
  /** More fields of a call, of the first one of a reply. */
  firstCall?(request: ScriptRequest): object;
  /** Contract: undefined when the request would be answered. */
  refuses?(request: ScriptRequest): Refusal | undefined;
}

interface Refusal {
  message: string;
  type?: string;
  code?: string;
  param?: string;
}

type Message = ScriptRequest["body"];

const repliesIn = ({ body }: ScriptRequest): Message[] =>
  body.messages.filter((message: Message) => message.role === "assistant");

/** What DeepSeek and OpenRouter said in that round, as it has to come back. */
const thoughtOf = (round: number): string => `thought of round ${round}`;
const signatureOf = (round: number): string => `signature of round ${round}`;

function firstProblem(
  request: ScriptRequest,
  problem: (reply: Message, round: number) => string | undefined,
): Refusal | undefined {
  for (const [round, reply] of repliesIn(request).entries()) {
    const message = problem(reply, round);
    if (message !== undefined) return { message };
  }
  return undefined;
}

const PROVIDERS: Record<ProviderName, Provider> = {
  mistral: {
    reasoning: (text) => [{ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] }],
    refuses: (request) =>
      firstProblem(request, (reply) => {
        const bad = reply.tool_calls?.find((call: Message) => !/^[a-zA-Z0-9]{9}$/.test(call.id));
        if (bad) return `the tool call id ${bad.id} must be nine of a-z, A-Z, 0-9`;
        const strange = Object.keys(reply).find((key) => !["role", "content", "tool_calls", "prefix"].includes(key));
        return strange && `the field ${strange} of an assistant message is not permitted`;
      }),
  },
  deepseek: {
    reasoning: (_, { round }) => [{ reasoning_content: thoughtOf(round) }],
    refuses: (request) =>
      firstProblem(request, (reply, round) =>
        reply.reasoning_content === thoughtOf(round)
          ? undefined
          : "the reasoning_content of the thinking mode must be passed back",
      ),
  },
  gemini: {
    firstCall: ({ round }) => ({ extra_content: { google: { thought_signature: signatureOf(round) } } }),
    refuses: (request) =>
      firstProblem(request, (reply, round) => {
        const [first] = reply.tool_calls ?? [];
        const given = first?.extra_content?.google?.thought_signature;
        const isSigned = given === signatureOf(round) || given === "skip_thought_signature_validator";
        return !first || isSigned ? undefined : "a function call is missing its thought_signature";
      }),
  },
  openrouter: {
    reasoning: (_, { round }) => [
      { reasoning: "thought ", reasoning_details: [{ ...DETAIL, text: "thought " }] },
      { reasoning: `of round ${round}`, reasoning_details: [{ ...DETAIL, text: `of round ${round}` }] },
      { reasoning_details: [{ ...DETAIL, signature: signatureOf(round) }] },
    ],
    refuses: (request) =>
      firstProblem(request, (reply, round) => {
        const whole = [{ ...DETAIL, text: thoughtOf(round), signature: signatureOf(round) }];
        return sameJson(reply.reasoning_details, whole) ? undefined : "invalid signature in thinking block";
      }),
  },
  "gpt-5-gateway": {
    refuses: ({ body }) =>
      body.max_tokens === undefined
        ? undefined
        : {
            message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
            type: "invalid_request_error",
            code: "unsupported_parameter",
            param: "max_tokens",
          },
  },
};

const DETAIL = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };

export const providerOf = ({ provider }: ScriptRequest): Provider => (provider ? PROVIDERS[provider] : {});
