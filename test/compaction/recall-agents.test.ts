// Whose conversations recall reads: an agent's own and those it started, through others too; nobody's upwards or sideways.
import { expect, test } from "vitest";
import { openContexts } from "../../src/contexts.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";
import { seenIn } from "../team/world.ts";
import { calling, inOrder, recalledOf, recalls, tooLong } from "./playing.ts";

const bash = (command: string) => calling("bash", { command });
/** Two calls, of which the first leaves the view: from there on recall is offered. */
const masked = (word: string): ScriptRound[] => [bash(`echo ${word} ${"x".repeat(2_000)}`), bash("true"), tooLong];
const spawn = (name: string) => calling("spawn_teammate", { name, role: "digger", prompt: `Hello ${name}.` });

const first = (text: string) => text.split("\n")[0];
const refused = (who: string, started = "you have started none") =>
  `! ${who} is no agent that you started: recall reads your own conversation and those of agents you started (${started})`;

test("the lead reads its teammates and their subagents; these read neither the lead nor each other", async () => {
  const rounds: Record<string, ScriptRound[]> = {
    lead: [spawn("alice"), spawn("bob"), { text: "I wait." }],
    alice: [
      ...masked("amber"),
      calling("task", { description: "dig", prompt: "Dig in the corner." }), // c3
      recalls({ ref: "lead/c1" }, { ref: "bob/c1" }, { query: "amber", agent: "lead" }, { ref: "alice/c1", limit: 1 }),
      recalls({ ref: "alice.c3/c1" }, { query: "coral", agent: "alice.c3" }),
    ],
    bob: masked("bronze"),
    digger: [...masked("coral"), recalls({ ref: "alice/c1" }, { ref: "lead/c1" }, { ref: "c1", agent: "alice" })],
  };
  const house = await openHouse(
    inOrder((request) => {
      const { agent, all } = seenIn(request);
      return rounds[all.includes("Dig in the corner.") && agent === "lead" ? "digger" : agent]?.shift();
    }),
    { team: { offer: true } },
  );
  try {
    const run = await house.harness.run("begin");
    await run.result;
    await run.taken.release();
    const over = new AbortController();
    const hosting = await house.harness.hosting({ context: run.context });
    const running = hosting.run(over.signal);
    while (rounds.alice!.length + rounds.bob!.length + rounds.digger!.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await hosting.settled(over.signal);
    over.abort();
    await running;
    expect((await recalledOf(house, run.context, "alice.c3")).map(first)).toEqual([
      refused("alice"),
      refused("lead"),
      refused("alice"),
    ]);
    expect((await recalledOf(house, run.context, "alice")).map(first)).toEqual([
      refused("lead", "those are alice.c3"),
      refused("bob", "those are alice.c3"),
      refused("lead", "those are alice.c3"),
      "[c1: bash, exit code 0; lines 1-1 of 1]",
      "[alice.c3/c1: bash, exit code 0]",
      "[the newest first; recall shows any of them whole, by its name]",
    ]);
    rounds.lead = [
      ...masked("lead"),
      recalls(
        { ref: "alice/c1" },
        { ref: "c1", agent: "bob" },
        { ref: "alice.c3/c1" },
        { query: "CORAL", agent: "alice.c3" },
        { query: "coral" },
        { query: "coral", agent: "bob" },
        { ref: "alice/c77" },
        { ref: "carol/c1" },
      ),
    ];
    const again = await house.harness.run("look", { context: run.context });
    await again.result;
    await again.taken.release();
    const shown = await recalledOf(house, run.context, "lead");
    expect(shown.map(first)).toEqual([
      "[alice/c1: bash, exit code 0]",
      "[bob/c1: bash, exit code 0]",
      "[alice.c3/c1: bash, exit code 0]",
      "[the newest first; recall shows any of them whole, by its name]",
      'nothing in this conversation has "coral"',
      'nothing in the conversation of bob has "coral"',
      "! there is no c77 in the conversation of alice: a query finds parts by their words",
      refused("carol", "those are alice, bob, alice.c3"),
    ]);
    expect(shown[3]).toContain("\n[alice.c3/c1: bash, exit code 0; line 1] coral xxx");

    const contexts = await openContexts({ store: house.store });
    const asProgram = await contexts.get(run.context);
    const asBob = await contexts.get(run.context, { agent: "bob" });
    const facts = {
      kind: "call",
      tool: "bash",
      end: { outcome: "succeeded", exitCode: 0 },
      since: [],
      isAbandoned: false,
    };
    expect(await asProgram.recall({ query: "coral", agent: "alice.c3", tool: "bash" })).toEqual({
      hits: [
        {
          ...{ agent: "alice.c3", ref: "c1", ...facts },
          ...{ text: expect.stringMatching(/^coral x+…$/), line: 1, inInput: false, further: 0 },
        },
      ],
      hasMore: false,
    });
    expect(await asProgram.recall("bob/c2")).toEqual({
      ...{ agent: "bob", ref: "c2", ...facts },
      input: { command: "true" },
      content: [{ type: "text", text: expect.any(String) }],
    });
    const errors = await Promise.allSettled([
      asBob.recall("alice/c1"),
      asProgram.recall("zoe/c1"),
      asProgram.recall("c99"),
      asProgram.recall({ query: " " }),
    ]);
    expect(errors.map((one) => one.status === "rejected" && [one.reason.code, one.reason.message])).toEqual([
      ["refused", refused("alice").slice(2)],
      ["not_found", `context ${run.context} has no agent zoe: its agents are lead, alice, bob, alice.c3`],
      ["not_found", "there is no c99 in the conversation of lead: a query finds parts by their words"],
      ["invalid", "recall takes a name such as c17, or { query } with some words"],
    ]);
    expect((await asBob.recall("c1")).agent).toBe("bob");
    await asBob.close();
    await expect(asBob.recall("c1")).rejects.toThrow(`this handle of ${run.context} was closed`);
  } finally {
    await house.close();
  }
});
