// The terminal as a person uses it, in a real one: words, questions, interrupts, a kill in the middle, and going on.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../../cli/cli.ts";
import { scratch } from "../../turn.ts";
import { hasTmux, startTmux } from "./tmux.ts";

function open({
  args = [] as string[],
  rounds = undefined as object[] | undefined,
  columns = 100,
  before = "true",
} = {}) {
  const dir = scratch(onTestFinished);
  const cwd = path.join(fs.realpathSync(scratch(onTestFinished)), "proj");
  fs.mkdirSync(cwd);
  fs.writeFileSync(path.join(cwd, "README.md"), "# A project\n");
  const script = path.join(dir, "script.yaml");
  if (rounds) fs.writeFileSync(script, JSON.stringify({ rounds }));
  const model = rounds ? ["--model", `rehearsal:${script}`] : [];
  const start = (more: string[]) => {
    const terminal = startTmux({ dir, cwd, args: [...model, ...more], columns, before });
    onTestFinished(() => terminal.close());
    return terminal;
  };
  return { dir, cwd, start, terminal: start(args) };
}

describe.runIf(hasTmux)("the terminal", { timeout: 60_000 }, () => {
  test("a newcomer without an account sees what this is and what to try; a question is answered in place", async () => {
    const { terminal, cwd } = open();
    const first = await terminal.until("Things to try");
    expect(first).toContain("offline rehearsal model, not an AI");
    terminal.type("Create a file notes.txt containing `hello`");
    expect(await terminal.until("[y] yes, this once")).toContain("lead asks");
    await new Promise((resolve) => setTimeout(resolve, 1_800)); // the card wants a pause after what was typed
    terminal.keys("y");
    await terminal.until("notes.txt written");
    expect(fs.readFileSync(path.join(cwd, "notes.txt"), "utf8")).toBe("hello\n");
    terminal.keys("C-c", "C-c");
    expect(await terminal.until("ended with 0")).toMatch(/Go on with it: holdfast -r ctx_\w+ --cwd/);
  });

  test("killed in the middle of a command, it goes on with -c: adopted, with its real exit code, run once", async () => {
    const rounds = [
      {
        text: "Building.",
        calls: [{ name: "bash", input: { command: "echo begun >> runs; sleep 4; echo BUILT; exit 3" } }],
      },
      { text: "It ended with 3." },
    ];
    const { terminal, start, cwd } = open({ rounds, args: ["--permission-mode", "bypassPermissions"] });
    await terminal.until(">");
    terminal.type("build it");
    await terminal.until("● bash");
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("ended with 137");
    terminal.close();
    const again = start(["-c"]);
    await again.until("begun before the last process ended");
    const end = await again.until("It ended with 3.");
    expect(end).toContain("adopted after the crash · exit code 3");
    expect(end.match(/^ +BUILT$/gm)).toHaveLength(1);
    expect(fs.readFileSync(path.join(cwd, "runs"), "utf8")).toBe("begun\n");
  });

  test("words typed while it works steer it, Esc interrupts, and nothing above is lost by fifty changes of size", async () => {
    const rounds = [
      { text: "Working on it.", calls: [{ name: "bash", input: { command: "sleep 30" } }] },
      { text: "# Done\n\nAs you **said**, in 日本語." },
    ];
    const before = "for i in $(seq 60); do echo shell-line-$i-; done";
    const { terminal } = open({ rounds, before, args: ["--permission-mode", "bypassPermissions"] });
    await terminal.until("/help");
    terminal.type("do it");
    await terminal.until("● bash sleep 30");
    terminal.type("in blue, please");
    await terminal.until("> in blue, please");
    for (let i = 0; i < 50; i++) terminal.resize(40 + ((i * 37) % 120), 12 + ((i * 17) % 40));
    terminal.resize(100, 30);
    terminal.keys("Escape");
    await terminal.until("interrupted; say how to go on");
    terminal.type("go on");
    await terminal.until("As you said, in 日本語.");
    const all = terminal.history();
    const lines = Array.from({ length: 60 }, (_, i) => all.split(`shell-line-${i + 1}-`).length - 1);
    expect(lines.every((count) => count === 1)).toBe(true);
    expect(all.split("Working on it.").length - 1).toBe(1);
  });

  test("a model that cannot be had changes nothing, and what is typed after it is sent", async () => {
    const { terminal } = open({ rounds: [{ text: "First." }, { text: "Second." }] });
    await terminal.until("/help");
    terminal.type("one");
    await terminal.until("First.");
    terminal.type("/model sonnet");
    await terminal.until("needs a key");
    terminal.type("two");
    await terminal.until("Second.");
  });

  test("a mode that is chosen while it works holds from the next turn on, and kills nothing", async () => {
    const rounds = [{ calls: [{ name: "bash", input: { command: "sleep 2; echo whole" } }] }, { text: "Done." }];
    const { terminal } = open({ rounds, args: ["--permission-mode", "bypassPermissions"] });
    await terminal.until("/help");
    terminal.type("go");
    await terminal.until("● bash");
    terminal.keys("BTab");
    await terminal.until("when this turn is over");
    expect(await terminal.until("Done.")).toMatch(/^ +whole$/m);
    await terminal.until(/^default ·/m);
  });

  test("a command of the person's own is stopped by Esc, and by leaving", async () => {
    const { terminal, cwd } = open({ rounds: [{ text: "Never." }] });
    await terminal.until("/help");
    terminal.type("!echo $$ > first; exec sleep 600");
    await terminal.until("esc stops it");
    const runs = (name: string) => {
      const pid = fs.readFileSync(path.join(cwd, name), "utf8").trim();
      const stat = fs.existsSync(`/proc/${pid}/stat`) ? fs.readFileSync(`/proc/${pid}/stat`, "utf8") : ") Z";
      return !/\) Z/.test(stat); // one that nobody has looked after yet is over too
    };
    expect(runs("first")).toBe(true);
    terminal.keys("Escape");
    await terminal.until("it did not run to its end");
    await expect.poll(() => runs("first")).toBe(false);
    terminal.type("!echo $$ > second; exec sleep 600");
    await terminal.until(/exec sleep 600 · \d+ s/);
    process.kill(terminal.pid(), "SIGTERM");
    await terminal.until("ended with 143");
    await expect.poll(() => runs("second")).toBe(false);
  });

  test("words that are sent together go to one context; after a rewind and -c only what counts is shown", async () => {
    const { terminal, start, dir, cwd } = open({ rounds: ["One.", "Two.", "Three."].map((text) => ({ text })) });
    await terminal.until("/help");
    terminal.keys("alpha", "Enter", "beta", "Enter");
    await terminal.until(/One\.|Two\./);
    terminal.type("gamma");
    await terminal.until("> gamma");
    await terminal.until(/^>\s*$/m);
    const { stdout } = await runCli(["contexts", "ls", "--json"], { cwd, state: dir });
    expect(JSON.parse(stdout)).toHaveLength(1);
    terminal.type("/rewind");
    await terminal.until("Go back to before");
    terminal.keys("Enter");
    await terminal.until("what goes back?");
    terminal.keys("Enter");
    await terminal.until(/Back at|restored|Take it back/);
    await terminal.until(/^> gamma\s*\n.*rehearsal/m); // to be said again, otherwise
    terminal.keys("C-u", "C-d");
    await terminal.until("ended with 0");
    terminal.close();
    const again = start(["-c"]);
    const shown = await again.until(/^> *alpha/m);
    expect(shown).not.toContain("gamma");
  });

  test("what a person ran is kept when the terminal is killed, and goes with the next words", async () => {
    const { terminal, start, dir, cwd } = open({ rounds: [{ text: "I see." }] });
    await terminal.until("/help");
    terminal.type("!echo from-the-person; exit 7");
    await terminal.until("exit code 7; it goes with your first words");
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("ended with 137");
    terminal.close();
    const again = start(["-c"]);
    await again.until("you ran echo from-the-person; exit 7: exit code 7");
    again.type("what was that?");
    await again.until("I see.");
    const [context] = JSON.parse((await runCli(["contexts", "ls", "--json"], { cwd, state: dir })).stdout) as [
      { id: string; title: string },
    ];
    const file = path.join(dir, "exported");
    await runCli(["contexts", "export", context.id, file], { cwd, state: dir });
    const taken = fs
      .readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes('"input.taken"'));
    expect([context.title, taken.length]).toEqual(["what was that?", 1]);
    expect(taken[0]).toContain("$ echo from-the-person; exit 7\\nfrom-the-person\\n[exit code 7]");
  });

  test("/resume says how old each context is, and which one is open here", async () => {
    const { terminal } = open({ rounds: [{ text: "One." }] });
    await terminal.until("/help");
    terminal.type("alpha");
    await terminal.until("One.");
    terminal.type("/clear");
    await terminal.until("a new context");
    terminal.type("beta");
    await terminal.until(/> beta\s+One\./);
    terminal.type("/resume");
    const shown = await terminal.until("Go on with");
    expect(shown).toMatch(/beta +this one · \d+ s ago · \w+ · ctx_/);
    expect(shown).toMatch(/alpha +\d+ s ago · \w+ · ctx_/);
  });

  test("tables of commands fit a narrow terminal: what goes on stands below its own column", async () => {
    const { terminal } = open({ rounds: [{ text: "One." }], columns: 60 });
    await terminal.until("/help");
    terminal.type("/agents");
    expect(await terminal.until(/^planner/m)).toMatch(
      /^explorer {13}Looks things up in the project and\n {21}reports places;/m,
    );
    terminal.type("hello");
    await terminal.until("One.");
    terminal.type("/help");
    await terminal.until("!command");
    expect(terminal.history()).toMatch(/^ {2}\/mode {17}what is allowed unasked: \/mode\n {24}acceptEdits$/m);
  });
});
