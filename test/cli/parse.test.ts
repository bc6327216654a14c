// What a command line means: the tables decide, and what means nothing gets one line with a guess. No process, no state.
import { describe, expect, it } from "vitest";
import { spellingsOf } from "../../src/cli/flag.ts";
import { help } from "../../src/cli/help.ts";
import { parseCommandLine } from "../../src/cli/parse.ts";
import { PROMPT } from "../../src/cli/table/prompt.ts";
import { COMMANDS } from "../../src/cli/table.ts";
import { HoldfastError } from "../../src/ledger/error.ts";

/** Every flag of every command, as it is typed, and whether an argument follows it. */
const typedFlags = () =>
  [PROMPT, ...Object.values(COMMANDS).flatMap(({ verbs }) => Object.values(verbs))].flatMap(({ flags }) =>
    Object.entries(flags).flatMap(([key, flag]) => [
      ...spellingsOf(key, flag).map(({ name, means }) => [
        `--${name}`,
        flag.argument !== undefined && means === undefined,
      ]),
      ...(flag.short ? [[`-${flag.short}`, flag.argument !== undefined]] : []),
    ]),
  );

it("a flag is followed by an argument in every command that has it, or in none", () => {
  const found = new Map(typedFlags() as [string, boolean][]);
  expect(typedFlags().filter(([name, takes]) => found.get(name as string) !== takes)).toEqual([]);
});

function said(line: string): string {
  try {
    const found = parseCommandLine(line.split(" ").filter(Boolean));
    return "help" in found
      ? `help ${found.help.join(" ")}`.trim()
      : `${found.name || "-p"}: ${found.words.join(" ")}`.trim();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    return error.message;
  }
}

const flagsOf = (...argv: string[]): Record<string, unknown> => {
  const found = parseCommandLine(argv);
  if ("help" in found) throw new Error("help");
  return found.flags;
};

const everyVerb = () => Object.values(COMMANDS).flatMap(({ verbs }) => Object.values(verbs));

describe("a command line", () => {
  it("means a command, a prompt or a question, wherever its flags stand", () => {
    expect(
      [
        "contexts ls",
        "--json contexts ls",
        "--state /x contexts show ctx_1",
        "contexts",
        "context ls",
        "approve",
        "approve apr_1 deny",
        "-p contexts ls",
        "-pc",
        "-p -- -x --y",
        "help contexts",
        "contexts help",
        "tasks help add",
        "contexts restore --help",
        "contexts restore x -h",
        "--help",
        "version",
        "--input-format stream-json --output-format stream-json --verbose",
      ].map(said),
    ).toEqual([
      "contexts ls:",
      "contexts ls:",
      "contexts show: ctx_1",
      "contexts ls:",
      "contexts ls:",
      "approve ls:",
      "approve: apr_1 deny",
      "-p: contexts ls",
      "-p:",
      "-p: -x --y",
      "help contexts",
      "help contexts",
      "help tasks add",
      "help contexts restore",
      "help contexts restore",
      "help",
      "version:",
      "-p:",
    ]);
  });

  it("that means nothing gets a guess, or what there is", () => {
    expect(
      [
        "contxts ls",
        "contexts lst",
        "contexts nonsense",
        "taks add x",
        "approv",
        "sessions ls",
        "-p x --modle y",
        "jobs ls --jsno",
        "-p x --nonsense",
      ].map(said),
    ).toEqual([
      "there is no command contxts: did you mean `holdfast contexts`? (see `holdfast --help`)",
      "there is no `contexts lst`: did you mean `holdfast contexts ls`? (see `holdfast contexts --help`)",
      expect.stringMatching(
        /^there is no `contexts nonsense`: there are ls, show, resume, .*rm \(see `holdfast contexts --help`\)$/,
      ),
      "there is no command taks: did you mean `holdfast tasks`? (see `holdfast --help`)",
      "there is no command approv: did you mean `holdfast approve`? (see `holdfast --help`)",
      "there is no command sessions: they are called contexts: `holdfast contexts ls` (see `holdfast --help`)",
      "there is no flag --modle: did you mean --model? (see `holdfast --help`)",
      "there is no flag --jsno: did you mean --json? (see `holdfast jobs ls --help`)",
      "there is no flag --nonsense (see `holdfast --help`)",
    ]);
  });

  it("says which flag is not there, and what does what a command of another program does", () => {
    expect(
      [
        "-P hi",
        "-V",
        "--modle x",
        "-p x -R y",
        "resume",
        "undo",
        "exec hi there",
        "login",
        "plaudern hi",
        "-p x --permission-mode acceptedits",
        "-p x --model gpt5",
        "-p x --model sonet",
      ].map(said),
    ).toEqual([
      "there is no flag -P: did you mean -p? (see `holdfast --help`)",
      "there is no flag -V: did you mean -v? (see `holdfast --help`)",
      "there is no flag --modle: did you mean --model? (see `holdfast --help`)",
      "there is no flag -R: did you mean -r? (see `holdfast --help`)",
      "there is no command resume: did you mean `holdfast contexts resume`? (see `holdfast --help`)",
      "there is no command undo: did you mean `holdfast contexts undo`? (see `holdfast --help`)",
      'there is no command exec: to send words to an agent: holdfast -p "hi there" (see `holdfast --help`)',
      expect.stringMatching(/^there is no command login: there is no account here: set ANTHROPIC_API_KEY or /),
      'there is no command plaudern; to send words to an agent: holdfast -p "plaudern hi" (see `holdfast --help`)',
      expect.stringMatching(/^--permission-mode takes .*, not "acceptedits": did you mean acceptEdits\? \(see /),
      expect.stringMatching(/^model "gpt5" is not provider\/name: did you mean gpt-5\? Or try .*, ollama\/gpt5 \(see /),
      expect.stringMatching(/^model "sonet" is not provider\/name: did you mean sonnet\? Or try /),
    ]);
  });

  it("takes every rule that follows a flag for rules, and no word of a prompt", () => {
    const read = (...argv: string[]) => {
      const found = parseCommandLine(["-p", ...argv]);
      if ("help" in found) throw new Error("help");
      return [found.words, found.flags.allow, found.flags.deny];
    };
    expect([
      read("go", "--disallowedTools", "Bash(ls *)", "Bash(cat *)"),
      read("--allowedTools", "Bash(git log *)", "Read", "Edit, mcp__db__query", "Fix the (bad) test"),
      read("--disallowed-tools=WebSearch", "write_file", "--allow", "Read", "Bash(ls) fails: why?"),
      read("--allowedTools", "Read", "--", "Edit"),
    ]).toEqual([
      [["go"], [], ["Bash(ls *)", "Bash(cat *)"]],
      [["Fix the (bad) test"], ["Bash(git log *)", "Read", "Edit", "mcp__db__query"], []],
      [["Bash(ls) fails: why?"], ["Read"], ["WebSearch", "write_file"]],
      [["Edit"], ["Read"], []],
    ]);
  });

  it("has no flag that is not its command's own", () => {
    expect(
      [
        "contexts ls --stay",
        "jobs ls --model x",
        "tasks claim task_1 --reason x",
        "trust --force",
        "-p x --only files",
      ].map(said),
    ).toEqual([
      "`contexts ls` does not take --stay (see `holdfast contexts ls --help`)",
      "`jobs ls` does not take --model (see `holdfast jobs ls --help`)",
      "`tasks claim` does not take --reason (see `holdfast tasks claim --help`)",
      "`trust show` does not take --force (see `holdfast trust show --help`)",
      "-p does not take --only (see `holdfast --help`)",
    ]);
  });

  it("has the words that its command needs, and no more", () => {
    expect(
      [
        "contexts restore x",
        "contexts restore x y z",
        "team reject plan_1",
        "contexts ls more",
        "contexts show",
        "tasks add",
      ].map(said),
    ).toEqual([
      "contexts restore needs CHECKPOINT: use: holdfast contexts restore CONTEXT CHECKPOINT",
      'contexts restore has no use for "z": use: holdfast contexts restore CONTEXT CHECKPOINT',
      "team reject needs TEXT: use: holdfast team reject PLAN TEXT …",
      'contexts ls has no use for "more": use: holdfast contexts ls',
      "contexts show needs CONTEXT: use: holdfast contexts show CONTEXT",
      "tasks add needs SUBJECT: use: holdfast tasks add SUBJECT [FIELD=VALUE …]",
    ]);
  });

  it("gives each flag what follows it, and nothing that looks like another flag", () => {
    expect(
      flagsOf(
        "-p",
        "x",
        "--append-system-prompt",
        "- be brief",
        "--allowedTools",
        "Bash(npm test *), Edit",
        "--add-dir=/a",
        "--add-dir",
        "/b",
      ),
    ).toMatchObject({
      appendSystemPrompt: "- be brief",
      allow: ["Bash(npm test *)", "Edit"],
      addDirs: ["/a", "/b"],
    });
    expect(flagsOf("-p", "x", "--permission-mode", "plan", "--dangerously-skip-permissions").permissionMode).toBe(
      "bypass",
    );
    expect(flagsOf("-p", "x", "--max-turns", "3").maxRounds).toBe(3);
    expect(
      ["-p x --model --json", "-p x --max-rounds many", "-p x --output-format xml", "contexts ls --json=yes"].map(said),
    ).toEqual([
      "--model needs P/NAME; one that begins with a dash is given as --model=… (see `holdfast --help`)",
      '--max-rounds takes a whole number from 1 on, not "many" (see `holdfast --help`)',
      '--output-format takes text, json, stream-json, not "xml" (see `holdfast --help`)',
      "--json takes no argument (see `holdfast contexts ls --help`)",
    ]);
  });

  it("names the context to resume: what follows -r is its name, whatever it looks like; nothing is the newest; an empty one is a mistake", () => {
    const resumed = (...argv: string[]) => {
      const found = parseCommandLine(argv);
      return "help" in found ? [] : [found.flags.resume, found.words];
    };
    expect([
      resumed("-p", "-r"),
      resumed("-p", "-r", "--stay", "x"),
      resumed("-p", "go on", "-r"),
      resumed("-p", "-r", "--", "go on"),
      resumed("-p", "-r", "nope", "x"),
      resumed("-p", "--resume", "123e4567-e89b-12d3-a456-426614174000", "x"),
      resumed("-p", "--resume=ctx_1", "x"),
    ]).toEqual([
      ["", []],
      ["", ["x"]],
      ["", ["go on"]],
      ["", ["go on"]],
      ["nope", ["x"]],
      ["123e4567-e89b-12d3-a456-426614174000", ["x"]],
      ["ctx_1", ["x"]],
    ]);
    expect(() => parseCommandLine(["-p", "--resume", "", "x"])).toThrow("--resume was given an empty CONTEXT");
    expect(() => parseCommandLine(["-p", "--resume=", "x"])).toThrow("--resume was given an empty CONTEXT");
  });

  it("takes models by a bare name where that means one, and says what to type where it does not", () => {
    const model = (name: string) => {
      try {
        return flagsOf("-p", "x", "--model", name).model;
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(
      [
        "sonnet",
        "opus",
        "gpt-5",
        "claude-opus-4-5-20251101",
        "anthropic/x",
        "rehearsal:a/b.yaml",
        "gpt-6",
        "qwen3-coder",
      ].map(model),
    ).toEqual([
      expect.stringMatching(/^anthropic\/claude-sonnet-/),
      expect.stringMatching(/^anthropic\/claude-opus-/),
      "openai/gpt-5",
      "anthropic/claude-opus-4-5-20251101",
      "anthropic/x",
      "rehearsal:a/b.yaml",
      expect.stringMatching(/^model "gpt-6" is not provider\/name: it may be openai\/gpt-6/),
      expect.stringMatching(/^model "qwen3-coder" is not provider\/name: try .*ollama\/qwen3-coder/),
    ]);
  });
});

describe("the tables", () => {
  it("give a flag the same meaning wherever it has the same name", () => {
    const takes = new Map<string, Set<string>>();
    for (const { flags } of [PROMPT, ...everyVerb()])
      for (const [key, flag] of Object.entries(flags))
        for (const { name, means } of spellingsOf(key, flag)) {
          const kind = flag.argument === undefined || means !== undefined ? "switch" : "argument";
          takes.set(name, (takes.get(name) ?? new Set()).add(kind));
        }
    expect([...takes].filter(([, kinds]) => kinds.size > 1)).toEqual([]);
  });

  it("let every ls and show print JSON", () => {
    const without = Object.entries(COMMANDS).flatMap(([name, { verbs }]) =>
      Object.entries(verbs).flatMap(([verb, { flags }]) =>
        (verb === "ls" || verb === "show") && !Object.hasOwn(flags, "json") ? [`${name} ${verb}`] : [],
      ),
    );
    expect(without).toEqual([]);
  });

  it("are the help: of everything, of a command, of a verb", () => {
    const all = help([]);
    expect(Object.keys(COMMANDS).filter((name) => !all.includes(`holdfast ${name}`))).toEqual([]);
    expect(Math.max(...all.split("\n").map((line) => line.length))).toBeLessThan(200);
    const contexts = help(["contexts"]);
    expect(
      Object.keys(COMMANDS.contexts!.verbs).filter((verb) => !contexts.includes(`holdfast contexts ${verb}`)),
    ).toEqual([]);
    expect(contexts).not.toContain("--permission-mode");
    const backups = help(["backup"]);
    expect([backups.includes("takes what -p takes"), /prune.*\n?.*--keep, --dry-run, --force/.test(backups)]).toEqual([
      ...[false, true],
    ]);
    const restore = help(["contexts", "restore"]);
    expect(restore).toMatch(
      /^holdfast contexts restore CONTEXT CHECKPOINT\n[\s\S]*--only PARTS[\s\S]*--keep-changed[\s\S]*--force/,
    );
    expect(() => help(["contxts"])).toThrow("there is no command contxts: did you mean `holdfast help contexts`?");
    expect(() => help(["contexts", "restor"])).toThrow("did you mean `holdfast help contexts restore`?");
  });
});
