// Killed while room is made: the resume shows the same bytes as an undisturbed run, and what was paid for is not paid for again.
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

const isQuestion = (body: ScriptRequest["body"]): boolean =>
  JSON.stringify(body.messages.at(-1)).includes("will be left out to make room");

/** Long answers until there is no room for them. */
const script = ({ body }: ScriptRequest): ScriptRound => {
  const usage = { input: Math.round(JSON.stringify(body).length / 4), output: 1 };
  if (isQuestion(body)) return { text: "All of them said hello.", usage };
  return { text: "hello ".repeat(2_000), usage };
};

async function converse(killedAt?: string) {
  const server = await startModelServer({ script });
  onTestFinished(() => server.close());
  const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const flags = ["--model", "openai-compatible/mock", "--context-window", "24000", "-q"];
  const killed: (string | undefined)[] = [];
  for (let n = 0; n < 6; n++) {
    const armed: Record<string, string> =
      killedAt !== undefined && killed.length === 0 ? { HOLDFAST_CRASH_AT: killedAt } : {};
    const from = n === 0 ? [] : ["-c"];
    const run = await runCli(["-p", ...from, `say it again, for the time ${n}`, ...flags], {
      cwd,
      state,
      env: { ...env, ...armed },
    });
    if (run.signal !== "SIGKILL") continue;
    killed.push(killedAt);
    await runCli(["-p", "-c", ...flags], { cwd, state, env });
  }
  const { requests, invalid } = server.log();
  expect(invalid).toEqual([]);
  const questions = requests.filter(({ body }) => isQuestion(body)).length;
  const last = requests.findLast(({ body }) => !isQuestion(body))!.body;
  return {
    killed,
    questions,
    last: JSON.stringify(last.messages.filter(({ role }: { role: string }) => role !== "system")),
  };
}

test("at every step of it", async () => {
  const whole = await converse();
  expect([whole.questions, whole.last.includes("All of them said hello.")]).toEqual([1, true]);
  const steps = ["summary.arrived", "summary.recorded", "compaction.planned", "compaction.recorded"];
  const ends = await Promise.all(steps.map((step) => converse(step)));
  expect(ends.map(({ killed, questions, last }) => [killed, questions, last === whole.last])).toEqual(
    // An answer that was not recorded yet is gone with the process, as a reply is.
    steps.map((step) => [[step], step === "summary.arrived" ? 2 : 1, true]),
  );
});
