// What the server thought in its replies: as Anthropic does, it wants that back unchanged while the calls it led to are being answered.
import { reasoningOf } from "./model-server-pieces.ts";
import type { ScriptRequest, ScriptRound } from "./model-server-script.ts";

type Body = ScriptRequest["body"];

export interface Thoughts {
  /** This reply goes out. */
  note(request: ScriptRequest, round: ScriptRound): void;
  /** Contract: empty when nothing is missing or changed. */
  problems(api: ScriptRequest["api"], body: Body): string[];
}

export function createThoughts(): Thoughts {
  /** By model and reply; undefined where one such reply came without. */
  const led = new Map<string, Set<string> | undefined>();
  /** By signature. */
  const texts = new Map<string, string>();
  return {
    note({ api, model }, round) {
      if (api !== "anthropic" || !round.calls?.length) return;
      const key = keyOf(model, { text: round.text ?? "", calls: round.calls });
      const { signature, redacted, text = "" } = reasoningOf(round) ?? {};
      const thought = redacted ?? signature;
      if (signature !== undefined) texts.set(signature, text);
      if (thought === undefined) led.set(key, undefined);
      else if (!led.has(key)) led.set(key, new Set([thought]));
      else led.get(key)?.add(thought);
    },
    problems(api, body) {
      if (api !== "anthropic" || !Array.isArray(body.messages)) return [];
      const loop = body.messages.findLastIndex(
        (message: Body) => message.role === "user" && blocksOf(message).some(({ type }) => type !== "tool_result"),
      );
      return body.messages.flatMap((message: Body, at: number) =>
        message.role === "assistant"
          ? [...changedIn(message, at), ...(at > loop ? missingIn(body.model, message, at) : [])]
          : [],
      );
    },
  };

  function changedIn(message: Body, at: number): string[] {
    return blocksOf(message).flatMap(({ type, signature, thinking }) =>
      type === "thinking" && texts.has(signature) && texts.get(signature) !== thinking
        ? [`message ${at}: thinking that was changed`]
        : [],
    );
  }

  function missingIn(model: string, message: Body, at: number): string[] {
    const blocks = blocksOf(message);
    const calls = blocks.filter(({ type }) => type === "tool_use");
    const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
    const wanted = led.get(keyOf(model, { text, calls }));
    if (!wanted || wanted.has(blocks[0]?.signature ?? blocks[0]?.data)) return [];
    return [`message ${at}: the thinking that led to its calls is missing`];
  }
}

const blocksOf = ({ content }: Body): Body[] => (typeof content === "string" ? [{ type: "text" }] : content);

const keyOf = (model: string, reply: { text: string; calls: { name: string; input?: unknown }[] }): string =>
  JSON.stringify([model, reply.text, reply.calls.map(({ name, input = {} }) => [name, input])]);
