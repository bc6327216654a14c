// How the scripted model server speaks the Responses format: a round as the events of a stream, or as one body.

import { argumentsOf, named, pieces, reasoningOf, usageOf } from "./model-server-pieces.ts";
import type { ScriptCall, ScriptRequest, ScriptRound } from "./model-server-script.ts";

type Body = ScriptRequest["body"];

const MODELS_OWN = ["reasoning", "function_call"];

/** What a model wrote, as opposed to what it was told. */
export const isModels = (item: Body): boolean => MODELS_OWN.includes(item.type) || item.role === "assistant";

/** How many replies are in the input: what the model wrote without anything in between is one. */
export const repliesIn = (input: Body[]): number =>
  input.filter((item, i) => isModels(item) && !(i > 0 && isModels(input[i - 1]))).length;

interface OutputItem {
  whole: Record<string, unknown> & { type: string; id: string };
  /** What changes between the item's opening and the whole of it. */
  opening: Record<string, unknown>;
  events: ({ type: string } & Record<string, unknown>)[];
}

function reasoningItem(request: ScriptRequest, round: ScriptRound): OutputItem[] {
  const reasoning = reasoningOf(round);
  if (!reasoning) return [];
  const id = `rs_${request.round}`;
  const part = { type: "summary_text", text: reasoning.text };
  const sealed = request.body.include?.includes("reasoning.encrypted_content")
    ? { encrypted_content: reasoning.signature ?? reasoning.redacted ?? `sealed ${id}` }
    : {};
  const at = { item_id: id, summary_index: 0 };
  const events =
    reasoning.text === ""
      ? []
      : [
          { ...at, type: "response.reasoning_summary_part.added", part: { ...part, text: "" } },
          { ...at, type: "response.reasoning_summary_text.delta", delta: reasoning.text },
          { ...at, type: "response.reasoning_summary_text.done", text: reasoning.text },
          { ...at, type: "response.reasoning_summary_part.done", part },
        ];
  const whole = { id, type: "reasoning", summary: reasoning.text === "" ? [] : [part], ...sealed };
  return [{ whole, opening: { summary: [] }, events }];
}

function messageItem(request: ScriptRequest, round: ScriptRound): OutputItem[] {
  if (!round.text) return [];
  const id = `msg_${request.round}`;
  const part = (text: string) => ({ type: "output_text", text, annotations: [] });
  const at = { item_id: id, content_index: 0 };
  const phase = round.phase ? { phase: round.phase } : {};
  const whole = { id, type: "message", role: "assistant", status: "completed", ...phase, content: [part(round.text)] };
  const events = [
    { ...at, type: "response.content_part.added", part: part("") },
    ...pieces(round.text, round.pieces ?? 3).map((delta) => ({ ...at, type: "response.output_text.delta", delta })),
    { ...at, type: "response.output_text.done", text: round.text },
    { ...at, type: "response.content_part.done", part: part(round.text) },
  ];
  return [{ whole, opening: { status: "in_progress", content: [] }, events }];
}

function callItem(request: ScriptRequest, call: ScriptCall, i: number): OutputItem {
  const id = `fc_${request.round}_${i}`;
  const args = argumentsOf(call);
  const call_id = call.id ?? `call_${request.round}_${i}`;
  const whole = { id, type: "function_call", status: "completed", call_id, name: call.name, arguments: args };
  const events = [
    ...pieces(args, 2).map((delta) => ({ item_id: id, type: "response.function_call_arguments.delta", delta })),
    { item_id: id, type: "response.function_call_arguments.done", arguments: args },
  ];
  return { whole, opening: { status: "in_progress", arguments: "" }, events };
}

const cutBy: Record<string, string> = { length: "max_output_tokens", refused: "content_filter" };

function outputOf(request: ScriptRequest, round: ScriptRound): OutputItem[] {
  const output = [
    ...reasoningItem(request, round),
    ...messageItem(request, round),
    ...(round.calls ?? []).map((call, i) => callItem(request, call, i)),
  ];
  const last = output.at(-1)?.whole;
  if (last?.status && cutBy[round.finish ?? ""]) last.status = "incomplete";
  return output;
}

function responseOf(request: ScriptRequest, status: string, more: Record<string, unknown> = {}) {
  const fixed = { object: "response", created_at: 0, status, model: request.model, error: null };
  return { id: `resp_${request.arrival}`, ...fixed, incomplete_details: null, output: [], usage: null, ...more };
}

function endOf(request: ScriptRequest, round: ScriptRound, output: OutputItem[]) {
  const usage = usageOf(round);
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const reason = cutBy[round.finish ?? ""];
  return responseOf(request, reason ? "incomplete" : "completed", {
    incomplete_details: reason ? { reason } : null,
    output: output.map((item) => item.whole),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + usage.output,
    },
  });
}

export function responsesChunks(request: ScriptRequest, round: ScriptRound): string[] {
  const output = outputOf(request, round);
  const end = endOf(request, round, output);
  const begun = responseOf(request, "in_progress");
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...output.flatMap(({ whole, opening, events }, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...whole, ...opening } },
      ...events.map((event) => ({ ...event, output_index })),
      { type: "response.output_item.done", output_index, item: whole },
    ]),
    { type: `response.${end.status}`, response: end },
  ];
  return events.map((event, sequence_number) => named({ ...event, sequence_number }));
}

export function responsesWhole(request: ScriptRequest, round: ScriptRound): unknown {
  return endOf(request, round, outputOf(request, round));
}

/** Inside a stream an error is an event of its own, or the end of the response. */
export function responsesErrorChunk(error: { type: string; message: string; ends?: boolean }): string {
  const said = { code: error.type, message: error.message };
  if (!error.ends) return named({ type: "error", ...said, param: null });
  return named({
    type: "response.failed",
    response: { object: "response", status: "failed", error: said, output: [] },
  });
}
