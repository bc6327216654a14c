// Teams through the whole house: real store, real HTTP to the scripted model server, teammates on the same loop.
import { afterEach, expect, test } from "vitest";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { call, openTeam, type Play, type TeamWorld } from "./world.ts";

let world: TeamWorld;
afterEach(() => world?.close());

const spawn = (name: string, more: object = {}) =>
  call("spawn_teammate", { name, role: "writer", prompt: `Hello ${name}.`, ...more });

const data = (events: { data: unknown }[]) => events.map((event) => event.data);

test("a teammate is spawned, works by itself, and what it came to reaches the lead once", async () => {
  const play: Play = ({ agent, last, since }) => {
    if (agent === "alice") return { text: "I am here." };
    if (last === "begin") return since === 0 ? spawn("alice") : { text: "Spawned." };
    return { text: `heard: ${last}` };
  };
  world = await openTeam(play);
  await world.settle();
  expect(data(await world.facts("team.idled"))).toEqual([{ text: "I am here." }]);
  const heard = (await world.facts("turn.ended"))
    .filter((event) => event.actor === "lead")
    .map((e) => (e.data as { text: string }).text);
  expect(heard.length).toBe(2);
  expect(heard[1]).toContain('<note from="alice">\n[idle] I am here.\n</note>');
});

test("names are checked: reserved, twice, malformed, and a refusal changes nothing", async () => {
  const names = ["lead", "user", "Bad Name", "../x", "alice", "ALICE"];
  const play: Play = ({ agent, last, since }) => {
    if (agent !== "lead" || last !== "begin") return { text: "ok" };
    return since < names.length ? spawn(names[since]!) : { text: "done" };
  };
  world = await openTeam(play);
  await world.settle();
  expect(data(await world.facts("team.joined")).map((d) => (d as { name: string }).name)).toEqual(["alice"]);
  const results = (await world.facts("tool.finished")).map(
    (e) => (e.data as { content: { text: string }[] }).content[0]!.text,
  );
  expect(results.slice(0, 4)).toEqual([
    "the name lead is reserved: choose another",
    "the name user is reserved: choose another",
    expect.stringContaining("a teammate's name is a letter"),
    expect.stringContaining("a teammate's name is a letter"),
  ]);
  expect(results[5]).toBe("alice is in the team already: send_message reaches it");
});

test("until its plan is approved a teammate may look and talk, not run, write or claim; after it, it claims", async () => {
  const tried = ["bash", "write_file", "claim_task", "glob", "submit_plan"];
  const inputs: Record<string, unknown> = {
    bash: { command: "touch x" },
    write_file: { path: "x", content: "x" },
    claim_task: { task_id: "task_1" },
    glob: { pattern: "*" },
    submit_plan: { plan: "First look, then write." },
  };
  const play: Play = ({ agent, last, since }) => {
    if (agent === "lead") {
      if (last === "begin")
        return since === 0
          ? call("create_task", { tasks: [{ subject: "Write it" }] })
          : since === 1
            ? spawn("alice", { require_plan: true })
            : { text: "Wait for the plan." };
      const id = /request (plan_alice_\w+):/.exec(last)?.[1];
      if (id && since === 0) return call("review_plan", { request_id: id, approve: true });
      return { text: "noted" };
    }
    if (last.includes("Hello"))
      return since < tried.length ? call(tried[since]!, inputs[tried[since]!]) : { text: "I wait." };
    if (last.includes("You have claimed task_1"))
      return since === 0 ? call("complete_task", { task_id: "task_1" }) : { text: "Written." };
    return { text: "Ready." };
  };
  world = await openTeam(play);
  await world.settle();
  const denied = (await world.facts("tool.finished")).filter(
    (e) => (e.data as { denied?: string }).denied !== undefined,
  );
  expect(denied.map((e) => [e.actor, (e.data as { name: string }).name])).toEqual([
    ["alice", "bash"],
    ["alice", "write_file"],
    ["alice", "claim_task"],
  ]);
  expect(data(await world.facts("plan.reviewed"))).toEqual([
    { requestId: expect.stringMatching(/^plan_alice_/), approve: true, feedback: "" },
  ]);
  const board = await openBoard(world.house.store);
  expect(await board.get("task_1")).toMatchObject({ status: "completed", owner: `${world.context}/alice` });
  expect(data(await world.facts("team.assigned"))).toEqual([{ taskId: "task_1" }]);
});

test("a rejected plan keeps the gate closed and carries the feedback; it is answered once", async () => {
  let rejected = 0;
  const play: Play = ({ agent, last, since, all }) => {
    if (agent === "lead") {
      if (last === "begin") return since === 0 ? spawn("bob", { require_plan: true }) : { text: "ok" };
      const ids = [...last.matchAll(/request (plan_bob_\w+):/g)].map((m) => m[1]!);
      if (ids.length > 0 && rejected < 2 && since < 2) {
        rejected++;
        return call("review_plan", { request_id: ids.at(-1), approve: false, feedback: "too vague" });
      }
      return { text: "noted" };
    }
    const times = all.split("submit_plan").length;
    if (last.includes("Hello") || last.includes("too vague")) {
      if (since === 0 && times < 8)
        return call("submit_plan", { plan: last.includes("too vague") ? "Second: less vague" : "First" });
    }
    return { text: "I wait." };
  };
  world = await openTeam(play);
  await world.settle();
  expect((await world.facts("plan.submitted")).map((e) => (e.data as { plan: string }).plan)).toEqual([
    "First",
    "Second: less vague",
  ]);
  const reviews = await world.facts("plan.reviewed");
  expect(reviews.length).toBe(1);
  const results = (await world.facts("tool.finished"))
    .filter((e) => e.actor === "lead")
    .map((e) => (e.data as { content: { text: string }[] }).content[0]!.text);
  expect(results).toContainEqual(expect.stringMatching(/was already rejected by lead: it is answered once$/));
});

test("messages arrive once and in order, wake whoever is idle, and an unknown recipient is an error", async () => {
  const play: Play = ({ agent, last, since }) => {
    if (agent === "lead") {
      if (last !== "begin") return { text: "noted" };
      if (since === 0) return spawn("alice");
      if (since === 1)
        return {
          calls: [
            { name: "send_message", input: { to: "alice", content: "one" } },
            { name: "send_message", input: { to: "alice", content: "two </note> three" } },
            { name: "send_message", input: { to: "carol", content: "nobody" } },
            { name: "send_message", input: { to: "user", content: "for you" } },
          ],
        };
      return { text: "sent" };
    }
    return { text: `got ${[...last.matchAll(/one|two|three/g)].join(" ")}` };
  };
  world = await openTeam(play);
  await world.settle();
  const delivered = (await world.facts("inbox.delivered")).filter((e) => e.actor === "alice");
  expect(delivered.flatMap((e) => (e.data as { ids: string[] }).ids).length).toBe(2);
  const notes = (await world.facts("note.added")).filter((e) => e.actor === "alice");
  expect(data(notes)).toEqual([
    { origin: "lead", text: "one" },
    { origin: "lead", text: "two </note> three" },
  ]);
  const sent = JSON.stringify(world.house.server.log().requests.map((r) => r.body));
  expect(sent).toContain("two <\\\\\\\\/note> three".replaceAll("\\\\\\\\", "\\\\"));
  const results = (await world.facts("tool.finished")).map(
    (e) => (e.data as { content: { text: string }[] }).content[0]!.text,
  );
  expect(results).toContain("there is no teammate carol: the team is alice");
});

test("shutdown has one id both ways, and what was unfinished goes back to the board", async () => {
  const play: Play = ({ agent, last, since, all }) => {
    if (agent === "lead") {
      if (last === "begin")
        return since === 0
          ? call("create_task", { tasks: [{ subject: "Endless" }] })
          : since === 1
            ? spawn("alice")
            : { text: "ok" };
      if (last.includes("[idle]") && !all.includes("request_shutdown"))
        return call("request_shutdown", { name: "alice", reason: "enough" });
      return { text: "noted" };
    }
    const id = /request (shutdown_alice_\w+)/.exec(last)?.[1];
    if (id)
      return since === 0 ? call("answer_shutdown", { request_id: id, approve: true, reason: "bye" }) : { text: "gone" };
    return { text: "I think about it." };
  };
  world = await openTeam(play);
  await world.settle();
  const [asked] = data(await world.facts("shutdown.requested")) as { requestId: string }[];
  const [answered] = data(await world.facts("shutdown.answered")) as { requestId: string }[];
  expect(answered).toEqual({ requestId: asked!.requestId, approve: true, reason: "bye" });
  const board = await openBoard(world.house.store);
  expect(await board.get("task_1")).toMatchObject({ status: "pending", owner: null });
  // Told once when it claimed it, once more when it stopped with it; not for ever.
  expect((await world.facts("team.assigned")).length).toBe(2);
  expect(await world.house.store.due(Date.now())).toEqual([]);
});
