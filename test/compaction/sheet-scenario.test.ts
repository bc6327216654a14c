// What an agent needs to go on is in every request, however often room was made, and in another process: the whole way, through the command line.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { openWorld } from "../crash/driver.ts";

const WINDOW = 32_000;
const EACH = 22;

const call = (name: string, input: unknown, text?: string): ScriptRound => ({
  ...(text !== undefined && { text }),
  calls: [{ name, input }],
});
/** Of what it reads the result can be left out; of what it writes only the whole round. */
const work = (n: number): ScriptRound => {
  const decided = n % 5 === 0 ? `Decided at f${n}: keep branch ${n} because of it.` : undefined;
  return n % 2 === 1
    ? call("write_file", { path: `out/g${n}.txt`, content: `of f${n}\n`.repeat(1_200) }, decided)
    : call("read_file", { path: `f${n}.txt` }, decided);
};

const FIRST = "The first request: look at every file and say what is in it.";
const SECOND = "The second request: and now the other half, in the order of their names.";

const ROUNDS: ScriptRound[] = [
  call("load_skill", { name: "tabs" }),
  call("todo_write", {
    todos: [
      { content: "make a list", status: "completed" },
      { content: "look at the files", status: "in_progress" },
      { content: "write the report", status: "pending" },
    ],
  }),
  call("create_task", { subject: "Look at all of it" }),
  call("claim_task", { task_id: "task_1" }),
  call("bash", { command: "sleep 600 # the server", run_in_background: true }),
  call("read_file", { path: "web/page.txt" }),
  call("write_file", { path: "out/report.txt", content: "begun\n" }),
  ...Array.from({ length: EACH }, (_, n) => work(n)),
  { text: "The first half is done." },
  ...Array.from({ length: EACH }, (_, n) => work(EACH + n)),
  call("edit_file", { path: "out/report.txt", old_string: "begun", new_string: "done" }),
  ...Array.from({ length: 8 }, (_, n) => work(2 * EACH + n)),
  { text: "All is done." },
];
/** Requests from here on have seen all of the beginning. */
const SET_UP = 8;

/** A summariser that says nothing of use; everything else in order, whatever the request still shows. */
function script(): (request: ScriptRequest) => ScriptRound {
  let next = 0;
  return ({ body }) => {
    const sent = JSON.stringify(body);
    const usage = { input: Math.ceil(sent.length / 4) };
    const isSummary = JSON.stringify(body.messages.at(-1)).includes("Answer with that text alone");
    return { ...(isSummary ? { text: "Work is in progress." } : ROUNDS[next++]!), usage };
  };
}

interface Compacted {
  masks: unknown[];
  snips: unknown[];
  sheet?: { text: string; asked?: string };
}
const compactions = (events: readonly StoredEvent[]) => events.filter(({ type }) => type === "context.compacted");

/** As the ledger has it up to there: path, hash, and who read and wrote it. */
function filesUntil(events: readonly StoredEvent[], seq: number, root: string): string[] {
  const files = new Map<string, { hash: string; read?: string; wrote?: string }>();
  for (const { data, ...event } of events) {
    if (event.type !== "file.seen" || event.seq > seq) continue;
    const seen = data as { path: string; hash: string; callId: string; how: "read" | "wrote" };
    files.set(seen.path, { ...files.get(seen.path), hash: seen.hash, [seen.how]: seen.callId });
  }
  return [...files].map(([file, { hash, read, wrote }]) => {
    const how = [...(wrote ? [`written by ${wrote}`] : []), ...(read ? [`read by ${read}`] : [])].join(", ");
    return `- ${path.relative(root, file)} ${hash.slice(0, 12)} ${how}`;
  });
}

const filesIn = (sheet: string): string[] => {
  const lines = sheet.split("\n");
  const from = lines.findIndex((line) => line.startsWith("Files you know"));
  const to = lines.findIndex((line, i) => i > from && !line.startsWith("- "));
  return lines.slice(from + 1, to);
};

it("after five compactions and in a new process every request has what is needed to go on, and files are those of the ledger", async () => {
  const world = await openWorld(script());
  onTestFinished(() => world.close());
  const write = (name: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(world.dir, name)), { recursive: true });
    fs.writeFileSync(path.join(world.dir, name), text);
  };
  const body = `body-of-tabs ${"always tabs, never spaces. ".repeat(60)}`;
  write(".claude/skills/tabs/SKILL.md", `---\nname: tabs\ndescription: For tabs.\n---\n${body}\n`);
  write("project/web/AGENTS.md", "rule-of-web: no inline styles");
  write("project/web/page.txt", "a page\n");
  for (let n = 0; n < 2 * EACH + 8; n++) write(`project/f${n}.txt`, `fact ${n} ${"y".repeat(90)}\n`.repeat(80));
  const window = ["--context-window", String(WINDOW), "--trust"];
  const first = await world.run(["-p", FIRST, ...window]);
  expect([first.code, first.stdout.trim()]).toEqual([0, "The first half is done."]);
  const before = compactions((await world.look()).contexts[0]!.events).length;
  const second = await world.run(["-p", "-c", SECOND, ...window]);
  expect([second.code, second.stdout.trim()]).toEqual([0, "All is done."]);

  const { events } = (await world.look()).contexts[0]!;
  const epochs = compactions(events);
  const made = epochs.map(({ data }) => data as Compacted);
  expect({
    inFirst: before >= 2,
    inAll: epochs.length >= 5,
    masks: made.some(({ masks }) => masks.length > 0),
    snips: made.some(({ snips }) => snips.length > 0),
  }).toEqual({ inFirst: true, inAll: true, masks: true, snips: true });

  const requests = world.server.log().requests.map((request) => JSON.stringify(request.body.messages));
  const seconds = requests.findIndex((sent) => sent.includes(SECOND));
  const lasting = [
    FIRST,
    "always tabs, never spaces. always tabs",
    "rule-of-web: no inline styles",
    "[>] look at the files",
    "[ ] write the report",
    "task_1",
    "sleep 600 # the server",
    "out/report.txt",
  ];
  const missing = requests.flatMap((sent, i) =>
    i < SET_UP
      ? []
      : [...lasting, ...(i >= seconds ? [SECOND] : [])].flatMap((text) => (sent.includes(text) ? [] : [{ i, text }])),
  );
  expect(missing).toEqual([]);
  // Whole rounds from the first one on are out of view each time: there the sheet alone says it.
  expect(
    made.flatMap(({ sheet }, i) =>
      lasting.flatMap((text) => (`${sheet?.text}${sheet?.asked}`.includes(text) ? [] : [{ i, text }])),
    ),
  ).toEqual([]);
  const last = requests.at(-1)!;
  const decisions = Array.from({ length: 10 }, (_, n) => `Decided at f${n * 5}: keep branch ${n * 5} because of it.`);
  expect(decisions.filter((said) => !last.includes(said))).toEqual([]);

  const lists = made.map(({ sheet }, i) => ({ seq: epochs[i]!.seq, files: filesIn(sheet?.text ?? "").sort() }));
  expect(lists).toEqual(lists.map(({ seq }) => ({ seq, files: filesUntil(events, seq, world.project).sort() })));
  const onDisk = (name: string) =>
    createHash("sha256")
      .update(fs.readFileSync(path.join(world.project, name)))
      .digest("hex");
  expect(lists.at(-1)!.files).toContainEqual(
    expect.stringContaining(`out/report.txt ${onDisk("out/report.txt").slice(0, 12)} written by`),
  );
});
