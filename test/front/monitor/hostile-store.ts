// A store that somebody hostile wrote: markup, scripts, escapes, text that turns around or is cut in half, in every field that anybody can write.
import { newId } from "../../../src/ledger/id.ts";
import type { EventInput, Store } from "../../../src/ledger/store.ts";
import { openBoard } from "../../../src/mechanisms/tasks/index.ts";
import { everyEvent } from "../../filled-events.ts";

/** What it would do if it were anything but text. */
export const RAN = "holdfastRan";
const MARKUP = `<img src=x onerror="${RAN}=1"><script>${RAN}=1</script><svg onload="${RAN}=1"><iframe srcdoc="<script>parent.${RAN}=1</script>"></iframe><a href="javascript:${RAN}=1">x</a><style>*{display:none}</style></textarea>`;
const CONTROLS = "\u0000\u0007\u0008\u001b[31m\u001b]8;;http://evil.example\u0007\u001b[2J\u009b31m\u0085\u007f\r";
const TURNED = "\u202egnp.exe\u202c \u2066a\u2069 \u200f\u061c\ufff9";
const HALVES = "\ud800 x\udc00";
/** Found again in whatever is shown of it. */
export const SHOWN = "inert-日本語";
export const HOSTILE = `${SHOWN} ${MARKUP}${CONTROLS}${TURNED}${HALVES} javascript:${RAN}=1 ![x](http://evil.example/x.png) [x](javascript:${RAN}=1) &lt;b&gt;`;
/** As an agent may be called, and a type of event: no store takes a NUL there. */
export const NAME = HOSTILE.replaceAll("\0", "");
const LONG_LINE = `${HOSTILE}${"長い行 ".repeat(20_000)}`;

/** The hostile context first: every type of event, several times over; then one that asks, one that failed, one whose plan waits. */
export async function makeHostileStore(store: Store, root: string): Promise<string[]> {
  const begun = (title: string): EventInput[] => [
    { type: "context.created", actor: "user", data: { root, title, version: HOSTILE } },
    { type: "agent.created", actor: "lead", touches: ["agent:lead"], data: { name: "lead", cwd: root } },
  ];
  const all = newId("ctx");
  const summary = { title: HOSTILE, root, open: true, checkpoint: { name: HOSTILE, at: 1 } };
  await store.append([{ ledger: all, events: begun(HOSTILE), summary }]);
  for (const [pick, actor] of ["lead", NAME, "lead", NAME].entries()) {
    // All but those that begin a context.
    const every = everyEvent(HOSTILE, pick).filter(({ type }) => !/^context\.(?:created|forked)$/.test(type));
    await store.append([{ ledger: all, events: every.map((one) => ({ ...one, actor, touches: [] })) }]);
  }
  await store.append([
    {
      ledger: all,
      events: [
        { type: "note.added", actor: "lead", data: { origin: HOSTILE, text: LONG_LINE } },
        { type: "data.shared", actor: NAME, data: { key: HOSTILE, ...value } },
        { type: "context.checkpointed", actor: NAME, data: { name: HOSTILE, auto: false, note: HOSTILE } },
        { type: `unknown.${NAME}`, actor: NAME, data: { [HOSTILE]: HOSTILE } },
      ],
      summary: { open: false, reason: "failed" },
    },
  ]);
  const ids = [all];
  const more: [EventInput[], Record<string, unknown>][] = [
    [[{ type: "approval.asked", actor: "lead", data: asked(root) }], { open: true }],
    [[{ type: "turn.ended", actor: "lead", data: ended }], { open: false, reason: "failed" }],
    [
      [{ type: "plan.submitted", actor: "lead", data: { requestId: `plan ${HOSTILE}`, plan: HOSTILE } }],
      { open: true },
    ],
  ];
  for (const [events, summary] of more) {
    const id = newId("ctx");
    ids.push(id);
    const named = { title: HOSTILE, root: HOSTILE, ...summary };
    await store.append([{ ledger: id, events: [...begun(HOSTILE), ...events], summary: named }]);
  }
  const board = await openBoard(store);
  // As long as a subject may be.
  const subjects = [`${SHOWN} ${MARKUP.slice(0, 150)}`, `${SHOWN} ${CONTROLS}${TURNED}${HALVES}`];
  await board.create(
    subjects.map((subject) => ({ subject, description: HOSTILE })),
    { agent: NAME },
  );
  const backup = { place: HOSTILE, at: 1, manifest: HOSTILE, project: HOSTILE, [`seq ${all}`]: 3 };
  const events = [{ type: "backup.begun", actor: "backup", data: { place: HOSTILE } }];
  await store.append([{ ledger: "backup:0123456789abcdef", events, summary: backup }]);
  await store.leases.acquire(`agent:${all}/lead`);
  return ids;
}

const asked = (root: string) => ({
  ...{ requestId: `ask ${HOSTILE}`, callId: HOSTILE, tool: HOSTILE, input: { [HOSTILE]: HOSTILE, command: HOSTILE } },
  ...{ cwd: root, root, reason: HOSTILE, firm: false, rules: [`Bash(${HOSTILE})`], about: HOSTILE },
});
const value = { hash: "0".repeat(64), bytes: 24, type: "string", preview: HOSTILE, value: HOSTILE };
const ended = { turnId: HOSTILE, reason: "failed", text: HOSTILE, error: HOSTILE };
