// A thousand messages from eight processes to one inbox.
import { spawn } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openHouse } from "../house.ts";
import { call, seenIn } from "./world.ts";

const SENDERS = 8;
const EACH = process.env.HOLDFAST_LONG === "1" ? 125 : 40;

test("each arrives once, in the order of its sender, while the recipient works", { timeout: 120_000 }, async () => {
  const names = Array.from({ length: SENDERS }, (_, i) => `mate${i}`);
  const house = await openHouse(
    (request) => {
      const { last, since } = seenIn(request);
      return last === "begin" && since < SENDERS
        ? call("spawn_teammate", { name: names[since], role: "sender", prompt: "Send." })
        : { text: "noted" };
    },
    { team: { offer: true } },
  );
  onTestFinished(() => house.close());
  const run = await house.harness.run("begin");
  await run.result;
  const processes = names.map(
    (name) =>
      new Promise<number | null>((resolve) =>
        spawn(
          process.execPath,
          [
            path.join(import.meta.dirname, "sender-process.ts"),
            path.join(house.state, "ledger.db"),
            run.context,
            name,
            "lead",
            String(EACH),
          ],
          { stdio: "inherit" },
        ).once("exit", resolve),
      ),
  );
  let sending = true;
  const all = Promise.all(processes).then((codes) => {
    sending = false;
    return codes;
  });
  for (;;) {
    const over = !sending;
    await run.taken.ledger.catchUp();
    const turned = await run.taken.agent.oneTurn();
    if (turned === undefined && over) break;
    if (turned === undefined) await sleep(5);
  }
  expect(await all).toEqual(names.map(() => 0));
  const notes = (await house.events(run.context)).filter((e) => e.type === "note.added" && e.actor === "lead");
  const bySender = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  for (const note of notes) {
    const { origin, text } = note.data as { origin: string; text: string };
    if (origin === "team") continue;
    const [name, n] = text.split(" ");
    expect(name).toBe(origin);
    bySender[origin]!.push(Number(n));
  }
  const inOrder = Array.from({ length: EACH }, (_, i) => i);
  expect(bySender).toEqual(Object.fromEntries(names.map((name) => [name, inOrder])));
});
