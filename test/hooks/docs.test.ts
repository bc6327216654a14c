// What docs/hooks.md prints works as printed, and hands on file names as one argument whatever they are called.
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { HookConfig } from "../../src/mechanisms/hooks/config.ts";
import { NOT_ASKED } from "../turn.ts";
import { fireHooks } from "./fixture.ts";

const page = fs.readFileSync(path.join(import.meta.dirname, "../../docs/hooks.md"), "utf8");
const block = (kind: string) => new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``).exec(page)![1]!;

it("the configuration: a formatter gets the file and nothing else, a stop is held back once", async () => {
  const { hooks } = JSON.parse(block("json")) as { hooks: HookConfig };
  const { dir, seams, turn, read, clean } = fireHooks({ hooks: { Stop: hooks.Stop! } });
  const bin = path.join(dir, "node_modules/.bin");
  fs.mkdirSync(bin, { recursive: true });
  fs.writeFileSync(
    path.join(bin, "npx"),
    '#!/bin/sh\nfor word in "$@"; do echo "$word"; done >> "$CLAUDE_PROJECT_DIR"/words\n',
    {
      mode: 0o755,
    },
  );
  const formatting = fireHooks({
    root: dir,
    env: { PATH: `${bin}:${process.env.PATH}` },
    hooks: { PostToolUse: hooks.PostToolUse! },
  });
  const names = ["src/a --plugin=evil.mjs", "-rf", 'it\'s "quoted" $(id).ts'];
  for (const name of names) await formatting.tool("write_file", { path: name, content: "x" }, { content: "written" });
  const words = (name: string) => ["prettier", "--write", "--ignore-unknown", "--", path.join(formatting.dir, name)];
  expect(read("words").trimEnd().split("\n")).toEqual(names.flatMap(words));
  const reply = { model: "m", parts: [], finish: "stop" as const, usage: {} as never };
  expect(await seams.stop(turn, reply, NOT_ASKED)).toEqual([]);
  fs.writeFileSync(path.join(dir, ".todo"), "run the tests\n");
  expect(await seams.stop(turn, reply, NOT_ASKED)).toMatchObject([{ origin: "hook", text: "run the tests" }]);
  formatting.clean();
  clean();
});

it("the last answer, out of a transcript", async () => {
  const command = block("sh")
    .replace(/ +#.*$/m, "")
    .trim();
  const { dir, hooks, seams, turn, read, clean } = fireHooks({
    hooks: { Notification: [{ hooks: [{ type: "command", command: `{ ${command}; } > answer` }] }] },
  });
  const line = (type: string, text: string) => JSON.stringify({ type, message: { content: [{ type: "text", text }] } });
  fs.writeFileSync(
    path.join(dir, "t.jsonl"),
    `${line("assistant", "first")}\n${line("assistant", "last")}\n${line("user", "x")}\n`,
  );
  await seams.announced("Notification", { transcript_path: path.join(dir, "t.jsonl") }, turn);
  await hooks.end!(turn, "exit");
  expect(read("answer")).toBe("last\n");
  clean();
});
