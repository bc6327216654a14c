// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell commands, not templates
// What Holdfast's own commands do only for a person: an agent that calls them is refused, whatever mode and rules say.
import { expect, it, onTestFinished } from "vitest";
import { openHouse } from "../house.ts";
import { makeWorld, others } from "./world.ts";

const FOR_PEOPLE = [
  "holdfast approve apr_1",
  "holdfast deny apr_1",
  "holdfast trust",
  "holdfast -p hi --trust",
  "holdfast workflow input ctx_1 approved=true",
  "holdfast workflow --quiet input ctx_1 approved=true",
  "holdfast --cwd . workflow input ctx_1 approved=true",
  "holdfast project adopt ../other",
  "holdfast project forget ../other",
  "holdfast contexts import copy.hfctx",
  "holdfast --state ./state contexts import copy.hfctx",
  "sh -c 'holdfast contexts import copy.hfctx'",
  "echo copy.hfctx | xargs holdfast contexts import",
  "verb=input; holdfast workflow $verb ctx_1 approved=true",
  // Only the run would tell.
  "holdfast $WORDS",
  "holdfast workflow $VERB ctx_1 approved=true",
  "holdfast contexts --json $(cat verb) copy.hfctx",
  "cat words | xargs holdfast contexts",
];

it.each(["default", "acceptEdits", "bypass"] as const)(
  "an agent's command that is a person's to give is refused in mode %s, also where a rule allows it",
  async (mode) => {
    const rules = { mode, allow: ["Bash(holdfast *)", "Bash(xargs *)", "Bash(sh *)"] };
    expect(await others(makeWorld(), FOR_PEOPLE, "deny", rules)).toEqual([]);
  },
);

it("what only looks, and an agent that is started, are asked about as before", async () => {
  const asked = [
    "holdfast workflow ls",
    "holdfast contexts show $ID",
    "holdfast contexts export ctx_1 input",
    'holdfast -p "$PROMPT"',
    "holdfast -p 'import the contexts'",
  ];
  const world = makeWorld();
  expect(await others(world, asked, "ask")).toEqual([]);
  expect(await others(world, asked, "allow", { allow: ["Bash(holdfast *)"] })).toEqual([]);
});

it("in a turn nothing of it runs: the call is answered with the refusal", async () => {
  const commands = ["workflow input ctx_1 ok=true", "project adopt ../other", "contexts import copy.hfctx"];
  const calls = commands.map((words) => ({ name: "bash", input: { command: `holdfast ${words}` } }));
  const house = await openHouse([{ calls }, { text: "refused" }]);
  onTestFinished(() => house.close());
  const run = await house.harness.run("go");
  expect((await run.result).reason).toBe("done");
  const { messages } = house.server.log().requests.at(-1)!.body;
  const answers = messages.filter((one: { role: string }) => one.role === "tool");
  expect(answers.map((one: { content: string }) => one.content)).toEqual(
    commands.map((words) => expect.stringContaining(`holdfast ${words}: that is for a person to do`)),
  );
  const types = (await house.events(run.context)).map(({ type }) => type);
  expect(types).not.toContain("job.started");
});
