// Hooks as people have them in a repository, through the command line: what works, what is said, what a kill leaves.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { runCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

async function setUp(settings: object, script: Script) {
  const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
  const server = await startModelServer({ script });
  onTestFinished(() => server.close());
  fs.mkdirSync(path.join(cwd, ".claude/hooks"), { recursive: true });
  fs.writeFileSync(path.join(cwd, ".claude/settings.json"), JSON.stringify(settings, null, 2));
  const cli = (args: string[], env: Record<string, string> = {}) =>
    runCli(["-p", "--model", "openai-compatible/mock", ...args], {
      cwd,
      state,
      env: { OPENAI_BASE_URL: server.openaiUrl, ...env },
    });
  return { cwd, state, server, cli };
}

const hook = (command: string, more: object = {}) => ({ type: "command", command, ...more });
const on = (command: string, more: object = {}) => [{ hooks: [hook(command, more)] }];
const bash = (command: string) => ({ calls: [{ name: "bash", input: { command } }] });

test("a repository's hooks run as their authors wrote them, and what cannot run is one line and no obstacle", async () => {
  const guard = `# nothing leaves by force\nif [[ "$(jq -r .tool_input.command)" =~ ^git\\ push.*(-f|--force) ]]; then\n  echo "no force" >&2\n  exit 2\nfi`;
  const { cwd, server, cli } = await setUp(
    {
      includeCoAuthoredBy: true,
      hooks: {
        Setup: on("npm ci"),
        UserPromptSubmit: [
          {
            hooks: [hook('"$CLAUDE_PROJECT_DIR"/.claude/hooks/skills.sh'), hook(`[[ x =~ ^(x|y)$ ]] && echo weekday`)],
          },
        ],
        PreToolUse: [{ matcher: "Bash", hooks: [hook(guard), hook("Get-Date", { shell: "powershell" })] }],
        Stop: on('if [[ "$(date +%u)" =~ ^(6|7)$ ]]; then echo weekend; fi'),
      },
    },
    [bash("git push --force"), { text: "done" }],
  );
  fs.writeFileSync(path.join(cwd, ".claude/hooks/skills.sh"), "#!/bin/bash\nexit 2\n", { mode: 0o644 });
  const { code, stdout, stderr } = await cli(["--trust", "--permission-mode", "dontAsk", "Push it"]);
  expect([code, stdout, server.log().requests.length]).toEqual([4, "done\n", 2]);
  const [first, second] = server.log().requests.map(({ body }) => JSON.stringify(body.messages));
  expect([first!.includes("weekday"), second!.includes("blocked by a PreToolUse hook: no force")]).toEqual([
    true,
    true,
  ]);
  expect(stderr.split("\n").filter((line) => /hook/i.test(line) && !line.includes("✗"))).toEqual([
    "holdfast: .claude/settings.json:4:14: hooks for `Setup` are not run: there is no --init and no --maintenance",
    "holdfast: .claude/settings.json:39:22: a hook for the shell `powershell` is not run: hooks run under bash or sh",
    expect.stringMatching(
      /^· UserPromptSubmit hook .*skills\.sh: exit code 126 \(it may not be executed: chmod \+x\): /,
    ),
  ]);
  // Said once, and no flag is named: none undoes what a hook refused.
  expect(stderr.split("\n").slice(-3)).toEqual([
    expect.stringMatching(/^ctx_/),
    "1 call was refused, and nothing was changed: bash git push --force",
    "",
  ]);
});

test("bypassing that a repository switches off is refused with one line that names the file, and nothing is sent", async () => {
  const { server, cli } = await setUp({ permissions: { disableBypassPermissionsMode: "disable" } }, [{ text: "no" }]);
  const { code, stdout, stderr } = await cli(["--trust", "--dangerously-skip-permissions", "Go"]);
  expect({ code, stdout, stderr, asked: server.log().requests.length }).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "holdfast: .claude/settings.json:3:5 switches bypassing permissions off: use another mode, such as --permission-mode auto\n",
    asked: 0,
  });
});

test("after a kill a hook finds the whole conversation in the transcript, each message once", async () => {
  const keep = `f=$(jq -r .transcript_path); jq -r '.message.content | if type == "string" then . else .[0].text // .[0].name // "result" end' "$f" > seen`;
  const { cwd, state, cli } = await setUp({ hooks: { PreToolUse: on("exit 0"), Stop: on(keep) } }, [
    bash("echo one"),
    bash("echo two"),
    { text: "done" },
  ]);
  const killed = await cli(["--trust", "Go"], { HOLDFAST_CRASH_AT: "effect.done:2" });
  expect(killed.signal).toBe("SIGKILL");
  const files = (dir: string): string[] =>
    fs.readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) => /transcripts.*jsonl$/.test(name));
  const [file] = files(state);
  fs.appendFileSync(path.join(state, file!), '{"type":"assistant","mess'); // the kill came in the middle of a line
  const { code, stdout } = await cli(["-c"]);
  expect([code, stdout, files(state)]).toEqual([0, "done\n", [file]]);
  expect(fs.readFileSync(path.join(cwd, "seen"), "utf8")).toBe("Go\nBash\nresult\nBash\nresult\ndone\n");
  await runCli(["contexts", "rm", path.basename(file!, ".jsonl"), "--force"], { cwd, state });
  expect(files(state)).toEqual([]);
});

test("a prompt that a hook blocks is sent to no model, whatever other hooks have said, and what is said then leads on", async () => {
  const { cwd, server, cli } = await setUp(
    {
      hooks: {
        SessionStart: on("echo context of the session"),
        UserPromptSubmit: on("grep -q forbidden && { echo no such words >&2; exit 2; } || echo beside it"),
      },
    },
    [{ text: "fine" }],
  );
  const { code, stdout, stderr } = await cli(["--trust", "--output-format", "json", "this is forbidden"]);
  const { session_id: id, num_turns } = JSON.parse(stdout);
  const why = "blocked by a UserPromptSubmit hook: no such words";
  const other = `holdfast -p -r ${id} --cwd ${cwd} "…"`;
  expect([code, num_turns, stderr]).toEqual([4, 0, `${why}\nGo on with other words: ${other}\n`]);
  const again = await cli(["-r", id]);
  expect([again.code, again.stdout]).toEqual([0, ""]);
  expect(again.stderr).toContain(`Nothing is left to take up in ${id}: ${why}. Say what is to be done: ${other}\n`);
  expect(server.log().requests).toEqual([]);
  // A turn that was begun for other words is not ended by those that are refused.
  const killed = await cli(["-r", id, "go"], { HOLDFAST_CRASH_AT: "model.before" });
  const taken = await cli(["-r", id, "this is forbidden"]);
  expect([killed.signal, taken.code, taken.stdout]).toEqual(["SIGKILL", 0, "fine\n"]);
  const sent = JSON.stringify(server.log().requests.map(({ body }) => body.messages));
  expect([sent.includes("go"), sent.includes("context of the session"), sent.includes("forbidden")]).toEqual([
    true,
    true,
    false,
  ]);
});
