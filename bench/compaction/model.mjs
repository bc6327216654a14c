// The scripted model of the compaction benchmark: plays the script, answers summary calls badly on purpose, refuses what does
// not fit, and at the end asks for each fact that is no longer in view by one `recall`. Keeps a log of all requests.
import path from "node:path";
import { callFor, chatCalls, flatOf } from "./wire.mjs";

const SUMMARY_CALL =
  /summari[sz]|state_snapshot|context checkpoint|compaction|handoff summary|structured.{0,40}summary/i;
const RECALL = "recall";

/** How a summariser can fail its harness. */
export const summaries = {
  lazy: () => ({ text: "Work is in progress." }),
  empty: () => ({ text: "" }),
  refuse: () => ({ text: "I'm sorry, but I can't help with that." }),
  toolcall: (request) => ({
    call: request.tools.length
      ? callFor(request.tools, { cmd: "echo again" })
      : { name: "bash", args: { command: "echo again" } },
  }),
  long: (_request, limitBytes) => ({
    text: "The work goes on and on, and then it goes on. ".repeat(Math.ceil((1.2 * limitBytes) / 46)),
  }),
};

/** Gemini takes a summary only in this form. */
const dressed = (reply, api) =>
  api === "gemini" && reply.text
    ? { text: `<state_snapshot><overall_goal>${reply.text}</overall_goal></state_snapshot>` }
    : reply;

function kindOf({ tools, forbidsTools, messages }) {
  if (tools.length && !forbidsTools) return "main";
  const asked = JSON.stringify([messages[0] ?? "", messages.at(-1) ?? ""]);
  return SUMMARY_CALL.test(asked) ? "summary" : "other";
}

/** The reference that the view shows for a file: beside its elided result, or in any line that names the file. */
function referenceIn(request, file) {
  const own = chatCalls(request)
    .filter((c) => c.args.includes(file.name))
    .map((c) => c.result);
  const lines = JSON.stringify(request.messages)
    .split(/\\n|\n/)
    .filter((l) => l.includes(file.name) && l.length < 1000);
  const id = "((?=[\\w.:#/-]*\\d)[\\w.:#/-]*\\w)";
  for (const text of [...own, ...lines]) {
    for (const shape of [
      `${RECALL}\\W{0,4}(?:ref(?:erence)?\\W{1,5})?${id}`,
      `\\bref(?:erence)?\\W{1,5}${id}`,
      `^\\W*([a-z]{1,6}[-_]?\\d+)\\b`,
    ]) {
      const found = text.match(new RegExp(shape, "i"));
      if (found) return found[1];
    }
  }
  return null;
}

/** One recall for a lost fact, with only what the view shows: the reference, else the file's name as the query. */
function recallFor(request, tool, file) {
  const keys = Object.keys(tool.schema.properties || {});
  const refKey = keys.find((k) => /^(ref|reference|id|call)/i.test(k));
  const queryKey = keys.find((k) => /query|search|text|pattern/i.test(k));
  const ref = referenceIn(request, file);
  if (ref && refKey) return { by: "reference", file, call: { name: tool.name, args: { [refKey]: ref } } };
  const named = JSON.stringify(request.messages).includes(file.name);
  if (named && queryKey)
    return { by: "query", file, call: { name: tool.name, args: { [queryKey]: path.basename(file.name) } } };
  return { by: "nothing", file };
}

export function scriptedModel({ world, summary, limitBytes, withRecall }) {
  const { script } = world;
  const log = []; // { kind, flat, refused?, step?, end? }
  let step = 0;
  let recalls = null; // null until the script is over; then the recalls still to be made
  const recalled = []; // { by, found }
  let asked = null;

  /** The script is over: from here on one recall a round, where the tool is offered. */
  function afterScript(request, record) {
    const tool = request.tools.find((t) => t.name === RECALL);
    if (recalls === null) {
      record.end = true;
      const lost = tool && withRecall ? world.files.filter((f) => !record.flat.includes(f.fact)) : [];
      recalls = lost.map((f) => recallFor(request, tool, f));
      recalled.push(...recalls.filter((r) => !r.call).map((r) => ({ by: r.by, found: false })));
      recalls = recalls.filter((r) => r.call);
      model.recallOffered = Boolean(tool && withRecall);
    } else if (asked) {
      recalled.push({
        by: asked.by,
        found: chatCalls(request).some((c) => c.fresh && c.result.includes(asked.file.fact)),
      });
    }
    asked = recalls.shift() ?? null;
    return asked ? { call: asked.call } : { text: "DONE" };
  }

  const model = {
    log,
    recalled,
    recallOffered: false,
    stepsDone: () => step,
    windowBytes: Infinity, // set for each agent
    reply(request) {
      const kind = kindOf(request);
      const record = { kind, bytes: request.bytes, flat: flatOf(request) };
      log.push(record);
      // a summary call may use the room that is kept for the answer
      const max = kind === "main" ? model.windowBytes : Math.max(model.windowBytes, limitBytes / 0.75);
      if (request.bytes > max) {
        record.refused = true;
        return { refuseAbove: max };
      }
      if (kind === "summary") return dressed(summaries[summary](request, limitBytes), request.api);
      if (kind === "other") return { text: '{"title":"x"}' };
      record.step = step;
      if (step >= script.length - 1) return afterScript(request, record);
      const next = script[step++];
      return next.text == null ? { call: callFor(request.tools, next) } : next;
    },
  };
  return model;
}
