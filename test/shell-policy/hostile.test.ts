// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell commands, not templates
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeCommand, judgeFile, makeWorld } from "./world.ts";

const TOKENS = [
  "ls",
  "cat",
  "rm",
  "-rf",
  "~",
  "/",
  "..",
  "$x",
  "${x:-a}",
  "$(",
  ")",
  "`",
  "'",
  '"',
  "\\",
  "|",
  "||",
  "&&",
  ";",
  "&",
  "\n",
  "<",
  ">",
  ">>",
  "<<E",
  "<<<",
  "<(",
  ">(",
  "((",
  "))",
  "[[",
  "]]",
  "{",
  "}",
  "{a,b}",
  "*",
  "?",
  "[a]",
  "if",
  "then",
  "fi",
  "for",
  "in",
  "do",
  "done",
  "case",
  "esac",
  "while",
  "f()",
  "x=1",
  "x=",
  "a[1]=",
  "=",
  "#",
  "!",
  "$'\\x41'",
  "2>&1",
  "git",
  "-c",
  "eval",
  "bash",
  "xargs",
  "find",
  "-exec",
  "{}",
  "sed",
  "s/a/b/",
  "awk",
  "{print}",
  "é",
  "​",
  "cd",
  "read",
  "$((",
  "let",
  "@(a|b)",
  "~+",
  "$@",
];

describe("hostile input", () => {
  const source = fc.oneof(
    fc.array(fc.constantFrom(...TOKENS), { maxLength: 40 }).map((tokens) => tokens.join(" ")),
    fc.array(fc.constantFrom(...TOKENS), { maxLength: 40 }).map((tokens) => tokens.join("")),
    fc.string({ maxLength: 200, unit: "binary" }),
  );

  it("never makes the engine throw, whatever the text", async () => {
    const world = makeWorld();
    await fc.assert(
      fc.asyncProperty(source, async (command) => {
        const judged = await judgeCommand(world, command, { allow: ["Bash(cat *)"], deny: ["Bash(*a*b)"] });
        expect(["allow", "ask", "deny"]).toContain(judged.decision);
        expect(judged.reason).not.toContain("could not be judged");
      }),
      { numRuns: 1500 },
    );
  });

  it("is never allowed when it ends by destroying", async () => {
    const world = makeWorld();
    await fc.assert(
      fc.asyncProperty(
        source,
        fc.constantFrom("; rm -rf ~", "\nrm -rf ~\n", " && rm -rf ~", " | rm -rf ~", " & rm -rf ~ &"),
        async (command, end) => {
          // A comment, an open here-document or a backslash before it would make the end text.
          fc.pre(!/#|<<|\\$/.test(command));
          expect((await judgeCommand(world, command + end, { allow: ["Bash(ls *)"] })).decision).not.toBe("allow");
        },
      ),
      { numRuns: 1500 },
    );
  });

  it("in paths never throws", async () => {
    const world = makeWorld();
    await fc.assert(
      fc.asyncProperty(
        fc.string({ maxLength: 60, unit: "binary" }),
        fc.constantFrom("read_file", "write_file", "glob", "grep"),
        async (path, tool) => {
          const judged = await judgeFile(world, tool, { path, pattern: path });
          expect(judged.reason).not.toContain("could not be judged");
        },
      ),
      { numRuns: 500 },
    );
  });

  it("of what lacks its operands, or touches what cannot be unset, is judged as what it is", async () => {
    const world = makeWorld();
    const judged = async (command: string) => {
      const { decision, firm, code, reason } = await judgeCommand(world, command);
      return { command, decision, firm, code, reason };
    };
    const asked = { decision: "ask", firm: false };
    const missing = { ...asked, code: "command" };
    const removes = { ...asked, code: "changes", reason: "unset @: it removes @" };
    const read = { decision: "deny", firm: true, code: "secret", reason: "cat $1: credentials are not read" };
    const all = ["ln -s", "ln --help", "unset @; echo $1", "f() { unset @; cat $1; }; f ~/.ssh/id_rsa"];
    expect(await Promise.all(all.map(judged))).toEqual([
      { ...missing, command: "ln -s", reason: "ln -s: the target is missing" },
      { ...missing, command: "ln --help", reason: "ln --help: the target is missing" },
      { ...removes, command: "unset @; echo $1" },
      { ...read, command: "f() { unset @; cat $1; }; f ~/.ssh/id_rsa" },
    ]);
    // No word that every object inherits is a subcommand that reaches another machine.
    expect((await judgeCommand(world, "git remote constructor")).network).toBe(false);
  });

  it.each([
    ["substitutions", (n: number) => `${"$(".repeat(n)}ls${")".repeat(n)}`],
    ["groups", (n: number) => `${"{ ".repeat(n)}ls${"; }".repeat(n)}`],
    ["arithmetic", (n: number) => `echo $((${"(".repeat(n)}1${")".repeat(n)}))`],
    ["loops", (n: number) => `${"for i in a b c d;do ".repeat(n)}ls${";done".repeat(n)}`],
    ["doubling variables", (n: number) => `a=xxxxxxxx;${"a=$a$a;".repeat(n)}ls $a`],
    [
      "calls that double",
      (n: number) =>
        `${Array.from({ length: Math.min(n, 60) }, (_, i) => `f${i}() { f${i + 1}; f${i + 1}; }; `).join("")}f0`,
    ],
    ["braces", (n: number) => `echo ${"{a,b}".repeat(n)}`],
    ["wrappers", (n: number) => `${"nice ".repeat(n)}rm -rf ~`],
    ["commands", (n: number) => `${"ls;".repeat(n * 3)}rm -rf ~`],
  ])("of many nested %s ends, and is not allowed", async (_, make) => {
    const world = makeWorld();
    for (const n of [30, 300]) {
      const judged = await judgeCommand(world, make(n).slice(0, 9_999), { mode: "default" });
      if (n === 300) expect(judged.decision === "allow" && make(n).includes("rm")).toBe(false);
    }
  });
});
