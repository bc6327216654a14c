// Redaction in the environment of a CI job, through the command line: what the model is shown of a file.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { tempDir } from "../house.ts";

test("read_file shows the author of package.json and a server's address as they are, and hides only the key", async () => {
  const key = "sk-proj-Zk3vR9xWq2LmT7uYp0sDfGhJ1kQwErTy";
  const line = `{"author":"Ada Lovelace <ada@example.com>","login":"https://login.example.com/auth","key":"${key}"}`;
  const cwd = tempDir("project");
  const state = tempDir("state");
  const server = await startModelServer({
    script: [{ calls: [{ name: "read_file", input: { path: "package.json" } }] }, { text: "Read." }],
  });
  onTestFinished(async () => {
    await server.close();
    for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
  });
  fs.writeFileSync(path.join(cwd, "package.json"), `${line}\n`);
  const exit = await runCli(["-p", "Who wrote it?", "--model", "openai-compatible/mock"], {
    cwd,
    state,
    env: {
      OPENAI_BASE_URL: server.openaiUrl,
      OPENAI_API_KEY: key,
      CI: "true",
      GIT_AUTHOR_NAME: "Ada Lovelace",
      GIT_AUTHOR_EMAIL: "ada@example.com",
      KEYCLOAK_URL: "https://login.example.com/auth",
    },
  });
  const result = server.log().requests[1]!.body.messages.at(-1).content as string;
  expect({ code: exit.code, shown: result.split("\n").filter((text) => text.includes("author")) }).toEqual({
    code: 0,
    shown: [expect.stringContaining(line.replace(key, "[redacted OPENAI_API_KEY]"))],
  });
});
