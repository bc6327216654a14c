// Text without a terminal: only what is recorded, each call when it begins, and after a kill the call that was adopted by its name.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

const bash = (command: string) => ({ name: "bash", input: { command } });
const ROUNDS = [
  { text: "Building.", calls: [bash("echo begun >> times; sleep 2; echo BUILD OK")] },
  { calls: [bash("seq -f 'ok test %g' 1 40; echo FAILED test_add; exit 1"), bash("seq 1 9000")] },
  { calls: [bash("./work.sh"), { name: "write_file", input: { path: "a.txt", content: "x\n" } }] },
  { text: "It fails." },
];

test("a killed build goes on by its name; failures show their end; what was refused is said with the flags that allow it", async () => {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const script = path.join(opts.state, "s.yaml");
  fs.writeFileSync(script, JSON.stringify({ rounds: ROUNDS }));
  fs.writeFileSync(path.join(opts.cwd, "work.sh"), "touch ran\n", { mode: 0o755 });
  const first = startCli(["-p", "go", "--model", `rehearsal:${script}`, "--allowedTools", "Edit(/times)"], opts);
  await new Promise<void>((resolve) =>
    first.child.stderr!.on("data", (data) => String(data).includes("● bash") && resolve()),
  );
  const times = path.join(opts.cwd, "times");
  while (!fs.existsSync(times)) await sleep(20);
  first.child.kill("SIGKILL"); // it has said what runs while it runs
  await first.exited;
  const { code, stdout, stderr } = await runCli(["-p", "-c"], opts);
  expect([code, stdout, fs.readFileSync(times, "utf8")]).toEqual([0, "It fails.\n", "begun\n"]);
  expect(stderr.split("\n").slice(1)).toEqual([
    "Building.",
    "● bash echo begun >> times; sleep 2; echo BUILD OK · begun before the last process ended",
    "  BUILD OK",
    expect.stringMatching(/^ {2}adopted after the crash · ran [23]\.\d s$/),
    "● bash seq -f 'ok test %g' 1 40; echo FAILED test_add; exit 1",
    "  … 29 lines before",
    ...Array.from({ length: 11 }, (_, i) => `  ok test ${i + 30}`),
    "  FAILED test_add",
    expect.stringMatching(/^ {2}✗ exit code 1 · \d\.\d s$/),
    "● bash seq 1 9000",
    ...["1", "2", "3", "4", "5", "… 8995 more lines"].map((line) => `  ${line}`),
    "● bash ./work.sh",
    expect.stringMatching(/^ {2}✗ refused: \.\/work\.sh: .* \(needs approval, and no one is there to ask\)$/),
    "● write_file a.txt",
    "  ✗ refused: a.txt: it changes files of the project (needs approval, and no one is there to ask)",
    expect.stringMatching(/^ctx_\S+ · 3 rounds · \S+ tokens in, \d+ out · \$0 · \S+ s$/),
    "2 calls were refused: bash ./work.sh; write_file a.txt",
    'Nobody could be asked: to allow it, give: --allowedTools "Bash(./work.sh)" --permission-mode acceptEdits; to be asked: --approvals wait',
    "",
  ]);
});
