// A turn at a real terminal: it streams, it asks, a key typed too early answers nothing, Ctrl-C always does; a rule that was kept holds.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli, startInTerminal } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

const write = (name: string) => ({ calls: [{ name: "write_file", input: { path: name, content: "hello\n" } }] });
const ROUNDS = [
  { text: "Looking **first**, slowly.", chunks: 8, delay_ms: 80, ...write("a.txt") },
  write("a.txt"),
  { ...write("b.txt"), delay_ms: 400 }, // long enough for the line that says what goes on
  { calls: [{ name: "bash", input: { command: "./work.sh" } }] },
  { text: "# Done\n\nAs you said.", chunks: 5, delay_ms: 60 },
  write("c.txt"),
  { text: "Again." },
];

function setUp() {
  const opts = { cwd: fs.realpathSync(scratch(onTestFinished)), state: scratch(onTestFinished) };
  const script = path.join(opts.state, "s.yaml");
  fs.writeFileSync(script, JSON.stringify({ rounds: ROUNDS }));
  fs.writeFileSync(path.join(opts.cwd, "work.sh"), "touch ran\n", { mode: 0o755 });
  return { opts, model: ["--model", `rehearsal:${script}`] };
}

/** Answers each of these once it has been seen, in order; gives all that the terminal was sent. */
async function play(running: ReturnType<typeof startInTerminal>, keys: [seen: string, typed: string][]) {
  let from = 0;
  let all = "";
  running.child.stdout!.on("data", (data) => {
    all += data;
    const [next] = keys;
    const at = next ? all.indexOf(next[0], from) : -1;
    if (!next || at < 0) return;
    from = at + next[0].length;
    keys.shift();
    running.child.stdin!.write(next[1]);
  });
  const { code } = await running.exited;
  return { code, left: keys, all, text: onScreen(all) };
}

/** What stays on the screen: without styles, and without lines that were drawn over. */
const onScreen = (all: string): string =>
  all
    .replace(/\u001b\[[\d;]*m/g, "")
    .replace(/\r\n/g, "\n")
    .replace(/[^\n]*\r\u001b\[K/g, "")
    .replace(/\u001b\[\d*[GJ]/g, "");

const PROMPT = "  > ";

test("streams, asks, and answers Ctrl-C at the question; after the resume edits are allowed for the context, a command is refused with a reason", {
  timeout: 30_000,
}, async () => {
  const { opts, model } = setUp();
  const there = () => fs.readdirSync(opts.cwd).sort();

  const first = await play(startInTerminal(["-p", "go", ...model], opts), [
    ["Looking", "y\r"], // nobody has asked yet
    [PROMPT, "\u0003"],
  ]);
  expect([first.code, first.left, there()]).toEqual([130, [], ["work.sh"]]);
  expect(first.text.split("Looking **first**, slowly.").length).toBe(2); // as it came, and not a second time at the end
  expect(first.all).toContain("\u001b[1m**\u001b[22m");
  const lines = first.text.split("\n");
  expect(
    lines.slice(lines.indexOf("lead asks: may I?"), -1).filter((line) => line !== "" && !line.startsWith("ctx_")),
  ).toEqual([
    "lead asks: may I?",
    `  write_file a.txt (a new file) in ${opts.cwd}`,
    "  │ +hello",
    "  why: a.txt: it changes files of the project",
    "  [y] yes, this once",
    "  [e] yes, and in this context from now on: all edits inside the project (Edit(/**))",
    "  [n] no (n TEXT: no, and the model is told why)",
    "  > ",
    expect.stringContaining("(no longer asked)"),
    "Interrupting; Ctrl-C once more leaves at once.",
    "● write_file a.txt",
    "  ✗ Not run: the turn was interrupted.",
    "interrupted",
    expect.stringMatching(/^Take it up again with: holdfast -p -r ctx_\S+ --cwd /),
  ]);

  const second = await play(startInTerminal(["-p", "-c"], { ...opts, env: { NO_COLOR: "1" } }), [
    [PROMPT, "e\r"],
    ["./work.sh", ""],
    [PROMPT, "n not like that\r"],
  ]);
  expect([second.code, second.left, there()]).toEqual([0, [], ["a.txt", "b.txt", "work.sh"]]);
  expect(second.text.match(/may I\?/g)?.length).toBe(2); // not for b.txt
  expect(second.text).toContain("  allowed; in this context from now on: Edit(/**)\n");
  expect(second.text).toContain("  │ ./work.sh\n");
  expect(second.text).toContain("● bash ./work.sh\n  ✗ refused: not like that\n# Done\n\nAs you said.\nctx_");
  expect(second.all).not.toMatch(/\u001b\[[\d;]+m/);
  expect(second.all).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] \d s · .*tokens · \$0/);

  // The rule is the context's, also where nobody can be asked; elsewhere it is not.
  const third = await runCli(["-p", "-c", "more"], opts);
  expect([third.stdout, there()]).toEqual(["Again.\n", ["a.txt", "b.txt", "c.txt", "work.sh"]]);
  const other = await runCli(["-p", "go", ...model, "--max-rounds", "1"], opts);
  expect([other.code, other.stdout, other.stderr.split("\n").slice(0, -1)]).toEqual([
    3,
    "", // what it said stands on the way already
    [
      "Looking **first**, slowly.",
      "● write_file a.txt",
      "  ✗ refused: a.txt: it changes files of the project (needs approval, and no one is there to ask)",
      expect.stringMatching(/^ctx_\S+ · 1 round · \S+ tokens in, \d+ out · \$0 · [\d.]+ s$/),
      "1 call was refused: write_file a.txt",
      "Nobody could be asked: to allow it, give: --permission-mode acceptEdits; to be asked: --approvals wait",
      "stopped after 1 round, its limit (--max-rounds, --max-turns); continue with a higher one",
      expect.stringMatching(/^Take it up again with: holdfast -p -r ctx_\S+ --max-rounds 2 --cwd \S+$/),
    ],
  ]);
});

test("who is still typing when the question comes has answered nothing, also with the Enter that follows", {
  timeout: 30_000,
}, async () => {
  const { opts, model } = setUp();
  const running = startInTerminal(["-p", "go", ...model], opts);
  const { stdin, stdout } = running.child;
  stdout!.on("data", (data) => {
    if (String(data).includes("may I?")) {
      stdin!.write("and ");
      setTimeout(() => stdin!.write("y\r"), 550);
    }
    if (String(data).includes(PROMPT)) setTimeout(() => stdin!.write("\u0003"), 1_000);
  });
  const { code } = await running.exited;
  expect([code, fs.existsSync(path.join(opts.cwd, "a.txt"))]).toEqual([130, false]);
});
