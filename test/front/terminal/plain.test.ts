// The terminal in plain lines, as screen readers and dumb terminals get it: each line once, nothing behind the prompt, no control bytes.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { startInTerminal } from "../../cli/cli.ts";
import { scratch } from "../../turn.ts";
import { hasTmux, startTmux } from "./tmux.ts";

const ROUNDS = [
  { text: "I write it.", calls: [{ name: "write_file", input: { path: "notes.txt", content: "hello\n" } }] },
  { text: "Written." },
];

function place() {
  const dir = scratch(onTestFinished);
  const cwd = path.join(fs.realpathSync(scratch(onTestFinished)), "proj");
  fs.mkdirSync(cwd);
  const script = path.join(dir, "script.yaml");
  fs.writeFileSync(script, JSON.stringify({ rounds: ROUNDS }));
  return { dir, cwd, args: ["--model", `rehearsal:${script}`] };
}

/** Without what differs from run to run: where the project is. */
const lasting = (screen: string): string[] =>
  screen
    .replace(/^( {2}write_file notes\.txt) \(a new file\)[\s\S]*?\n( {2}│)/m, "$1\n$2")
    .split("\n")
    .map((line) => line.trimEnd());

describe.runIf(hasTmux)("the terminal in plain lines", { timeout: 60_000 }, () => {
  test.each([
    ["--screen-reader", { flags: ["--screen-reader"], env: {} }],
    ["TERM=dumb", { flags: [], env: { TERM: "dumb" } }],
  ])(
    "%s: every line stands once, and the prompt alone on its own, at 60 columns with LANG=C",
    async (_, { flags, env }) => {
      const { dir, cwd, args } = place();
      const given = { NO_COLOR: "1", LANG: "C", ...env };
      const terminal = startTmux({ dir, cwd, args: [...args, ...flags], env: given, columns: 60, rows: 60 });
      onTestFinished(() => terminal.close());
      await terminal.until(/^> *$/m);
      terminal.type("!echo own");
      await terminal.until(/first words\n> *$/m);
      terminal.type("write it");
      await terminal.until("why: notes.txt");
      terminal.type("y"); // nobody can have read it
      await terminal.until(/is told why\n> *$/m);
      expect(fs.existsSync(path.join(cwd, "notes.txt"))).toBe(false);
      terminal.type("y");
      await terminal.until(/Written\.[\s\S]*\n> *$/m);
      terminal.type("/cost");
      const screen = await terminal.until(/all: [\s\S]*\n> *$/m);
      const shown = lasting(screen).filter((line) => line !== "" && line !== "y");
      const from = shown.indexOf("> !echo own");
      expect(shown.slice(from, from + 18)).toEqual([
        "> !echo own",
        "  own",
        "· exit code 0; it goes with your first words",
        "> write it",
        "  I write it.",
        "lead asks: may I?",
        "  write_file notes.txt",
        "  │ +hello",
        "  why: notes.txt: it changes files of the project",
        "  [y] yes, this once",
        "  [e] yes, and in this context from now on: all edits inside",
        "  the project (Edit(/**))",
        "  [n] no",
        "  n TEXT: no, and the model is told why",
        "> y",
        "● write_file notes.txt",
        "  +hello",
        "  Written.",
      ]);
      terminal.keys("C-d");
      await terminal.until("ended with 0");
    },
  );

  test("TERM=dumb: no byte moves the cursor; Ctrl-C twice leaves", async () => {
    const { dir, cwd, args } = place();
    const running = startInTerminal(args, { cwd, state: dir, env: { TERM: "dumb" } });
    let bytes = "";
    running.child.stdout!.on("data", (data) => {
      bytes += data;
    });
    const until = (what: string) => expect.poll(() => bytes, { timeout: 20_000 }).toContain(what);
    await until("> ");
    running.child.stdin!.write("write it\n");
    await until("is told why");
    running.child.stdin!.write("n not now\n");
    await until("\u0007");
    running.child.stdin!.write("\u0003");
    await until("Ctrl-C once more leaves.");
    await sleep(100);
    running.child.stdin!.write("\u0003");
    const { code } = await running.exited;
    expect([code, bytes.replace(/[\r\n\u0007]/g, "").match(/[\u0000-\u001f\u007f-\u009f]/g)]).toEqual([0, null]);
  });
});
