// The keyboard on a real terminal: whole keys and pastes, and all modes restored however the process ends.
import path from "node:path";
import { expect, test } from "vitest";
import { type Exited, startProgram } from "../../cli/cli.ts";
import { tempDir } from "../../house.ts";

interface Typing {
  type(bytes: string): void;
  /** Waits until the terminal was sent this. */
  seen(what: RegExp): Promise<RegExpExecArray>;
  exited: Promise<Exited>;
}

function open(end = ""): Typing {
  const dir = tempDir("keyboard");
  const child = path.join(import.meta.dirname, "children/keyboard.ts");
  const command = `stty -echo cols 200 rows 40; '${process.execPath}' '${child}' ${end}; echo code $?; stty -a`;
  const opts = { cwd: dir, state: dir, env: { TERM: "xterm-256color" }, keepStdin: true };
  const running = startProgram("script", ["-qec", command, "/dev/null"], opts);
  let sent = "";
  running.child.stdout!.on("data", (data) => {
    sent += data;
  });
  return {
    type: (bytes) => void running.child.stdin!.write(bytes),
    async seen(what) {
      await expect.poll(() => what.test(sent), { timeout: 30_000 }).toBe(true);
      return what.exec(sent)!;
    },
    exited: running.exited,
  };
}

const keysIn = (bytes: string): unknown[] =>
  [...bytes.matchAll(/key (\{.*?\})(?=[\r\u001b])/g)].map(([, key]) => JSON.parse(key!));

const q = { kind: "key", data: "q" };

test("keys come whole: letters, sequences, wide characters and those of two units", async () => {
  const terminal = open();
  await terminal.seen(/ready/);
  terminal.type("a\u001b[A\u001b[1;5C日👍\u0003\u001bb");
  await terminal.seen(/key \{"kind":"key","data":"\\u001bb"\}/);
  terminal.type("\u001b");
  await terminal.seen(/key \{"kind":"key","data":"\\u001b"\}/);
  terminal.type("q");
  const { stdout } = await terminal.exited;
  const keys = ["a", "\u001b[A", "\u001b[1;5C", "日", "👍", "\u0003", "\u001bb", "\u001b", "q"];
  expect(keysIn(stdout)).toEqual(keys.map((data) => ({ kind: "key", data })));
});

test("what is pasted comes in one piece, with its line ends, however long it is", async () => {
  const terminal = open();
  await terminal.seen(/ready/);
  terminal.type("\u001b[200~one\rtwo \u001b[A three\u001b[201~");
  await terminal.seen(/three/);
  terminal.type(`\u001b[200~${"long line\r".repeat(40_000)}\u001b[201~`);
  await terminal.seen(/"paste":\d/);
  terminal.type("q");
  const { stdout } = await terminal.exited;
  expect(keysIn(stdout)).toEqual([{ kind: "paste", text: "one\rtwo \u001b[A three" }, { paste: 400_000 }, q]);
});

test("a terminal that knows clear keys gets them turned on, once, and off again; its answers are no keys", async () => {
  const terminal = open();
  await terminal.seen(/\u001b\[\?u/);
  terminal.type("\u001b[?0u\u001bP>|tmux 3.3a\u001b\\");
  await terminal.seen(/terminal tmux 3\.3a/);
  terminal.type("\u001b[?1u\u001b[13;2u");
  await terminal.seen(/\[13;2u"\}/);
  terminal.type("q");
  const { stdout } = await terminal.exited;
  expect(keysIn(stdout)).toEqual([{ kind: "key", data: "\u001b[13;2u" }, q]);
  expect(stdout.match(/\u001b\[[<>]\d*u/g)).toEqual(["\u001b[>1u", "\u001b[<u"]);
});

test("given back for a while, the terminal is as it was, and then the keyboard's again", async () => {
  const terminal = open("suspend");
  await terminal.seen(/ready/);
  terminal.type("\u001b[?0uq");
  await terminal.seen(/again/);
  terminal.type("xq");
  const [pid] = (await terminal.seen(/ready (\d+)/)).slice(1).map(Number);
  await terminal.seen(/"x"/);
  process.kill(pid!, "SIGTERM");
  const { stdout } = await terminal.exited;
  const modes = stdout.match(/\u001b\[\?2004[hl]|\u001b\[[<>]\d*u|raw \w+|again \w+/g)!;
  const [on, off] = ["\u001b[?2004h", "\u001b[?2004l"];
  expect(modes.slice(0, 8)).toEqual([on, "\u001b[>1u", "\u001b[<u", off, "raw false", on, "\u001b[>1u", "again true"]);
});

/** Modes that are not as a terminal has them at the start. */
function modesLeft(bytes: string): string[] {
  const modes = new Map<string, string>();
  for (const [, mode, to] of bytes.matchAll(/\u001b\[\?(\d+)([hl])/g)) modes.set(mode!, to!);
  const usual = (mode: string) => (mode === "25" || mode === "7" ? "h" : "l");
  const left = [...modes].filter(([mode, to]) => to !== usual(mode)).map(([mode, to]) => `?${mode}${to}`);
  const count = (what: RegExp) => bytes.match(what)?.length ?? 0;
  return count(/\u001b\[>\d*u/g) === count(/\u001b\[<u/g) ? left : [...left, "clear keys"];
}

test.each([
  { end: "close", code: 0 },
  { end: "exit", code: 3 },
  { end: "throw", code: 1 },
  { end: "SIGTERM", code: 143 },
  { end: "SIGHUP", code: 129 },
  { end: "SIGINT", code: 130 },
])("after $end all modes are restored, and the code is $code", async ({ end, code }) => {
  const terminal = open(end);
  const [, pid] = await terminal.seen(/ready (\d+)/);
  terminal.type("\u001b[?0u");
  await terminal.seen(/\u001b\[>1u/);
  await terminal.seen(/\u001b\[\?25l/);
  if (end.startsWith("SIG")) process.kill(Number(pid), end);
  else terminal.type("q");
  const { stdout } = await terminal.exited;
  expect(modesLeft(stdout)).toEqual([]);
  expect(stdout).toContain(`code ${code}`);
  expect(stdout).toMatch(/(?<!-)icanon/);
  if (end === "throw") expect(stdout.slice(stdout.lastIndexOf("\u001b[?2004l"))).toContain("nobody catches this");
});
