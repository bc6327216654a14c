// The json and stream-json formats: the lines that Anthropic's SDKs and existing wrappers read (docs/stream-json.md). Facts are printed once they are durable.
import { randomUUID } from "node:crypto";
import { callIdOf } from "../../claude-code/call-shape.ts";
import { toClaude } from "../../claude-code/tool-names.ts";
import type { contextEvents } from "../../contexts/events.ts";
import type { Fact } from "../../ledger/events.ts";
import { LEAD } from "../../loop/agent.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { AgentView } from "../../loop/seams.ts";
import type { compactionEvents } from "../../mechanisms/compaction/events.ts";
import type { goalEvents } from "../../mechanisms/goal/events.ts";
import { judgedText } from "../../mechanisms/goal/port.ts";
import type { hookEvents } from "../../mechanisms/hooks/events.ts";
import type { jobEvents } from "../../mechanisms/jobs/events.ts";
import type { recoveryEvents } from "../../mechanisms/recovery/events.ts";
import { MAX_ATTEMPTS } from "../../mechanisms/recovery/index.ts";
import type { subagentEvents } from "../../mechanisms/subagents/events.ts";
import type { teamEvents } from "../../mechanisms/team/events.ts";
import { type ModelErrorKind, textOf } from "../../models/model.ts";
import type { Output } from "../text/text-output.ts";
import { createSeenAgents } from "./agents.ts";
import type { SchemaAnswer } from "./answer-schema.ts";
import { type HookRan, hookLines, hookTexts } from "./hooks.ts";
import { initFields } from "./init.ts";
import { createLiveMessage, type LiveMessage } from "./live.ts";
import {
  blocksOf,
  callSaid,
  messageId,
  originOf,
  resultContent,
  sdkMessage,
  stopReasonOf,
  usageOfReply,
} from "./message.ts";
import { resultLine, type TurnSaid } from "./result.ts";
import { sessionIdOf } from "./session-id.ts";
import { createTaskLines } from "./tasks.ts";

/** Every event that makes a line, or is remembered for one. */
export type Told = Fact<
  typeof loopEvents &
    typeof teamEvents &
    typeof recoveryEvents &
    typeof compactionEvents &
    typeof goalEvents &
    typeof jobEvents &
    typeof subagentEvents &
    typeof hookEvents &
    Pick<typeof contextEvents, "agent.created">
>;

const RETRY_ERRORS: Partial<Record<string, string>> = {
  rate_limit: "rate_limit",
  overloaded: "overloaded",
  server: "server_error",
  overflow: "invalid_request",
} satisfies Partial<Record<ModelErrorKind, string>>;

export interface JsonOutputOptions {
  stream: boolean;
  quiet?: boolean;
  /** Also what is being written, before it is a fact. */
  partial?: boolean;
  /** What the answer is, where it has to fit a schema. */
  answer?: ((text: string) => SchemaAnswer) | undefined;
}

export function createJsonOutput(opts: JsonOutputOptions): Output {
  let session = "";
  /** That of the lead, and the one that answers it now. */
  let ownModel = "";
  let model = "";
  let lead: AgentView | undefined;
  let live: LiveMessage | undefined;
  let said: TurnSaid = { stopReason: null };
  let isWoken = false;
  /** Where the lead was when a call of it was refused. */
  const refusedIn = new Map<string, string>();
  const agents = createSeenAgents(LEAD);
  const tasks = createTaskLines(agents);
  const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const line = (fields: object, uuid: string = randomUUID()) => {
    if (opts.stream) print({ ...fields, session_id: session, uuid });
  };
  const system = (subtype: string, fields: object, actor: string = LEAD) =>
    line({ type: "system", subtype, ...fields, ...(actor === LEAD ? {} : { agent_id: actor }) });

  function show(event: Told): void {
    const { actor, type, data } = event;
    const from = () => ({ ...agents.fields(actor), timestamp: new Date(event.at).toISOString() });
    for (const task of tasks.of(event)) line(task);
    switch (type) {
      case "turn.started":
        if (actor !== LEAD) break;
        isWoken = data.cause === "wake";
        model = ownModel;
        break;
      case "turn.ended":
        if (actor !== LEAD) break;
        live?.end(); // a reply was begun and never finished
        if (said.stopReason === "refusal")
          system("model_refusal_no_fallback", { original_model: model, request_id: null, content: data.error ?? "" });
        break;
      case "reply.received": {
        const stopReason = data.interrupted ? null : stopReasonOf(data.finish);
        const content = blocksOf(data.parts, actor, agents.of(actor).cwd);
        let id: string | undefined;
        if (actor === LEAD) {
          said.stopReason = stopReason;
          model = data.model;
          id = live?.end({ content, stopReason, used: { [data.model]: data.usage } });
        }
        line({
          type: "assistant",
          message: sdkMessage(id ?? messageId(event), {
            model: data.model,
            content,
            stopReason,
            usage: usageOfReply(data),
          }),
          ...(data.interrupted && { aborted: true }),
          ...from(),
        });
        break;
      }
      case "tool.finished": {
        const tool_use_id = callIdOf(actor, data.callId);
        if (data.denied !== undefined) {
          if (actor === LEAD) refusedIn.set(data.callId, agents.of(actor).cwd);
          const tool_name = toClaude(data.name, {}).name;
          const message = textOf(data.content);
          system("permission_denied", { tool_name, tool_use_id, decision_reason: data.denied, message }, actor);
        }
        const result = {
          type: "tool_result",
          tool_use_id,
          content: resultContent(data.content),
          is_error: data.isError,
        };
        line({ type: "user", message: { role: "user", content: [result] }, ...from() });
        break;
      }
      case "note.added": {
        const origin = originOf(data.origin, agents.has(data.origin));
        if (actor === LEAD && isWoken) said.origin ??= origin;
        if (data.origin === "jobs" || data.origin === "subtask") break; // the end itself has a line
        line({
          type: "user",
          message: { role: "user", content: [{ type: "text", text: data.text }] },
          isSynthetic: true,
          ...(origin && { origin }),
          note: data.origin,
          ...from(),
        });
        break;
      }
      case "input.taken":
        if (actor !== LEAD) break;
        isWoken = false; // a person's input: the turn is theirs from here on
        said.origin = undefined;
        break;
      case "input.blocked":
        informational("input_blocked", data.reason, { input_id: data.inputId }, actor);
        break;
      case "message.sent":
        if (data.to === "user" || data.to === "*")
          informational("message", `${actor}: ${data.content}`, { from: actor, level: "notice" }, actor);
        break;
      case "goal.judged": {
        const { verdict, why } = data;
        informational("goal_judged", `goal: ${judgedText(data)}`, { level: "notice", verdict, why }, actor);
        break;
      }
      case "model.retried":
        system(
          "api_retry",
          {
            attempt: data.attempt,
            max_retries: MAX_ATTEMPTS - 1,
            retry_delay_ms: data.delayMs,
            error_status: data.status ?? null,
            error: RETRY_ERRORS[data.kind] ?? "unknown",
          },
          actor,
        );
        break;
      case "model.switched":
        if (actor === LEAD) model = data.to;
        informational(
          "model_switched",
          `${data.reason}; going on with ${data.to}`,
          { from: data.from, to: data.to },
          actor,
        );
        break;
      case "hook.ran": {
        const ran = event as HookRan;
        for (const { subtype, fields } of hookLines(ran)) system(subtype, fields, actor);
        if (!opts.stream && !opts.quiet) for (const text of hookTexts(ran)) process.stderr.write(`holdfast: ${text}\n`);
        break;
      }
      case "context.elided":
      case "context.compacted": {
        const trigger = "cause" in data && data.cause === "asked" ? "manual" : "auto";
        const compact_metadata = { trigger, pre_tokens: agents.of(actor).promptTokens };
        system("compact_boundary", { compact_metadata }, actor);
        break;
      }
    }
  }

  const informational = (tag: string, content: string, fields: object, actor: string) =>
    system("informational", { level: "warning", tag, content, ...fields }, actor);

  return {
    init(info) {
      session = sessionIdOf(info.context);
      ownModel = info.model;
      model = info.model;
      lead = info.lead;
      agents.begin(info.lead);
      tasks.begin(info.lead);
      if (opts.stream && opts.partial)
        live = createLiveMessage({
          event: (event) => line({ type: "stream_event", event, parent_tool_use_id: null }),
          model: () => model,
          nextCall: () => `c${info.lead.state.calls + 1}`,
        });
      system("init", initFields(info));
    },
    event(event) {
      if (event.type === "event") {
        const told = event.event as Told;
        show(told);
        agents.note(told);
      } else if (event.progress.type === "delta") live?.delta(event.progress.delta);
    },
    control(response) {
      if (opts.stream) print({ type: "control_response", response });
    },
    accepted({ message, uuid }) {
      line({ type: "user", message, parent_tool_use_id: null, isReplay: true }, uuid);
    },
    result(result) {
      const denials = result.denials.map(({ name, callId, input, reason }) => {
        const call = callSaid(name, input, refusedIn.get(callId) ?? lead?.cwd ?? "");
        return { tool_name: call.name, tool_use_id: callId, tool_input: call.input, reason };
      });
      const answer = result.reason === "done" ? opts.answer?.(result.text) : undefined;
      print({
        ...resultLine(result, said, { denials, ...(answer?.fits === false && { misfit: answer.says }) }),
        ...(answer?.fits && { structured_output: answer.value }),
        session_id: sessionIdOf(result.context),
        uuid: randomUUID(),
      });
      said = { stopReason: null };
      refusedIn.clear();
    },
  };
}
