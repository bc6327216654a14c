// Flags that SDKs and wrappers of Claude Code pass: with their effect, or with one line that says they have none.
import fs from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { runCli } from "./cli.ts";
import { here } from "./here.ts";

const SESSION = "123e4567-e89b-12d3-a456-426614174000";
const opts = { cwd: tempDir("project"), state: tempDir("state"), env: {} };
let server: ModelServer;

/** These commands, then an answer. */
const running =
  (...commands: string[]) =>
  ({ body }: { body: { messages: { role: string }[] } }) =>
    body.messages.at(-1)!.role === "tool"
      ? { text: "Two words." }
      : { calls: commands.map((command) => ({ name: "bash", input: { command } })) };

beforeAll(async () => {
  server = await startModelServer({ script: running("ls") });
  opts.env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
});
afterAll(async () => {
  await server.close();
  for (const dir of [opts.cwd, opts.state]) fs.rmSync(dir, { recursive: true, force: true });
});

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a session has the id it was given, its settings and its system prompt; what has no effect is said in one line; another program's keys too", async () => {
  const { code, stdout, stderr } = await runCli(
    [
      ...["-p", "go", "--model", "openai-compatible/mock", "--output-format", "stream-json", "--verbose"],
      ...["--include-partial-messages", `--session-id=${SESSION}`, "--system-prompt", "You are a parrot."],
      ...["--settings", '{"permissions":{"deny":["Bash(ls *)"],"ask":["Bash(pwd)"]},"includeCoAuthoredBy":false}'],
      ...[
        "--mcp-config",
        "{}",
        "--strict-mcp-config",
        "--setting-sources=",
        "--tools=default",
        "--betas",
        "x",
        "--allow-dangerously-skip-permissions",
      ],
      ...["--replay-user-messages", ""],
    ],
    opts,
  );
  const lines = linesOf(stdout);
  expect([code, new Set(lines.map((line) => line.session_id))]).toEqual([4, new Set([SESSION])]);
  expect(lines.at(-1).permission_denials).toMatchObject([{ tool_name: "Bash" }]);
  const [{ body }] = server.log().requests as unknown as [{ body: { messages: { content: string }[] } }];
  expect(body.messages[0]!.content).toMatch(/^You are a parrot\.\nText inside <note>/);
  expect(stderr.split("\n").filter((line) => /without effect|no effect/.test(line))).toEqual([
    expect.stringMatching(/^holdfast: accepted without effect: --setting-sources .*--betas /),
    "holdfast: --settings:1:82: `includeCoAuthoredBy` has no effect: Holdfast has no such setting",
  ]);
  const partial = lines.filter((line) => line.type === "stream_event").map((line) => line.event);
  const message = ["message_start", "content_block_start", "content_block_delta", "content_block_stop"];
  const one = [...message, "message_delta", "message_stop"];
  expect(partial.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1])).toEqual([...one, ...one]);
  const text = partial.map((event) => event.delta?.text ?? "").join("");
  expect([text, lines.at(-1).result]).toEqual(["Two words.", "Two words."]);
});

test("only the tools that are named are offered, none where none is; a title and prompts from files are taken; what is known and does nothing is said", async () => {
  fs.writeFileSync(`${opts.cwd}/prompt.md`, "You are a crow.\n");
  server.setScript(() => ({ text: "Caw." }));
  const before = server.log().requests.length;
  const model = ["--model", "default", "--model", "openai-compatible/mock", "--output-format", "stream-json"];
  const named = ["--name", "The crow", "--system-prompt-file", "prompt.md", "--permission-mode", "manual"];
  const idle = ["--prompt-suggestions", "off", "--disable-slash-commands", "--no-chrome", "--permission-prompts=x"];
  const some = await runCli(["-p", "go", ...model, ...named, ...idle, "--tools=Read,Bash,Frob"], opts);
  const none = await runCli(["-p", "go", ...model, "--tools", ""], opts);
  const shell = ["Bash", "job_output", "job_kill", "list_jobs"];
  const tools = [some, none].map(({ stdout }) => linesOf(stdout)[0].tools.sort());
  expect(tools[0]).toEqual(expect.arrayContaining(["Read", "Bash"]));
  expect([tools[0].length, tools[1], linesOf(some.stdout)[0].permissionMode]).toEqual([
    1 + shell.length,
    [],
    "default",
  ]);
  const [first, second] = server.log().requests.slice(before);
  expect([first!.body.tools.length, second!.body.tools]).toEqual([5, undefined]);
  expect(first!.body.messages[0].content).toMatch(/^You are a crow\.\n/);
  expect(some.stderr.split("\n").filter((line) => line.startsWith("holdfast: "))).toEqual([
    expect.stringMatching(
      /^holdfast: accepted without effect: --no-chrome .*, --disable-slash-commands .*, --prompt-suggestions .*, --permission-prompts /,
    ),
    "holdfast: --tools: there is no Frob here",
  ]);
  const listed = JSON.parse((await here(["contexts", "ls", "--json"], opts)).stdout);
  const { session_id } = linesOf(some.stdout)[0];
  expect(listed.find((one: { id: string }) => one.id === session_id).title).toBe("The crow");
  const missing = await here(["-p", "x", "--system-prompt-file", "none.md"], opts);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringContaining("--system-prompt-file none.md cannot be read"),
  ]);
});

test("a session is begun once, gone on with by its id, and copied where that is asked for; what was given for one run is not kept, and that is said", async () => {
  const again = await runCli(["-p", "x", "--session-id", SESSION, "--model", "openai-compatible/mock"], opts);
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining(`there is a context ${SESSION} already: go on with it by -r ${SESSION}`),
  ]);
  const copy = await runCli(["-p", "more", "--resume", SESSION, "--fork-session", "--json"], opts);
  const { session_id: copied } = JSON.parse(copy.stdout);
  expect(copied).toMatch(/^ctx_/);
  server.setScript(running("ls", "pwd"));
  const gone = await runCli(["-p", "more", "--resume", SESSION, "--json"], opts);
  const refused = ["ls", "pwd"].map((command) => ({ tool_input: { command } }));
  const { session_id, permission_denials } = JSON.parse(gone.stdout);
  expect([session_id, permission_denials]).toMatchObject([SESSION, refused]); // what was refused stays refused, what was asked is asked
  expect(gone.stderr).toMatch(
    /as it was started: --model openai-compatible\/mock --disallowedTools 'Bash\(ls \*\)' --system-prompt 'You are a parrot\.' --settings '\{"permissions":\{"ask":\["Bash\(pwd\)"\]\}\}'/,
  );
  expect(gone.stderr).toMatch(
    /was started with --mcp-config '…' --settings '…', which is not taken up \(a file of servers .*; of settings only deny and ask rules are kept\)/,
  );
  const wrong = [
    ["-p", "x", "--session-id", "mine"],
    ["-p", "-c", "x", "--session-id", SESSION],
    ["-p", "x", "--fork-session"],
  ];
  for (const args of wrong) expect((await here(args, opts)).code).toBe(2);
});

test("an answer that has to fit a schema is checked, sent back with where and why, and given as a value; one that never fits is a failure", async () => {
  const schema = JSON.stringify({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
  const said: string[] = [];
  const replies = ["It is seven.", '{"n": "seven"}', '```json\n{"n": 7}\n```', ...Array(3).fill("no")];
  server.setScript(({ body }) => {
    said.push(JSON.stringify(body.messages.at(-1).content));
    return { text: replies.shift()! };
  });
  const args = ["-p", "count", "--model", "openai-compatible/mock", "--json", "--json-schema", schema];
  const good = await runCli(args, opts);
  expect([good.code, JSON.parse(good.stdout).structured_output, said]).toEqual([
    0,
    { n: 7 },
    [
      expect.stringContaining("count"),
      expect.stringContaining("does not fit the JSON Schema: it is not JSON"),
      expect.stringMatching(/does not fit the JSON Schema: n: .*expected/),
    ],
  ]);
  const bad = await runCli(args, opts);
  const why = "The answer does not fit --json-schema: it is not JSON";
  expect([bad.code, bad.stderr, replies]).toEqual([1, expect.stringContaining(why), []]);
  expect(JSON.parse(bad.stdout)).toMatchObject({
    ...{ subtype: "error_max_structured_output_retries", is_error: true, errors: [why], result: "no" },
    terminal_reason: "structured_output_retry_exhausted",
  });
  expect(await here([...args.slice(0, -1), "none.json"], opts)).toMatchObject({ code: 2 });
});
