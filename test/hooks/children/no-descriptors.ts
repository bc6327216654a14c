// A child in which a hook is due while no file can be opened any more: sh -c "ulimit -n 128; node no-descriptors.ts". It says how the turn ended.
import fs from "node:fs";
import { defineMechanism } from "../../../src/loop/seams.ts";
import type { ScriptRequest } from "../../../src/testing/model-server-script.ts";
import { openHouse } from "../../house.ts";
import { on } from "../fixture.ts";

const taken: number[] = [];
function takeAll(): void {
  try {
    for (;;) taken.push(fs.openSync("/dev/null", "r"));
  } catch {
    // That was the last one.
  }
}

// Before each model call there are some again.
const frugal = defineMechanism({
  name: "frugal",
  seams: {
    intake() {
      for (const one of taken.splice(0)) fs.closeSync(one);
      return [];
    },
  },
});
const script = ({ round }: ScriptRequest) => {
  if (round > 0) return { text: "told" };
  takeAll();
  return { calls: [{ name: "list_jobs", input: {} }] };
};
const house = await openHouse(script, { mechanisms: [frugal], hooks: on("PreToolUse", ["exit 0"]) });
const run = await house.harness.run("go");
const { reason, text } = await run.result;
const { messages } = house.server.log().requests.at(-1)!.body;
const answer = messages.findLast((one: { role: string }) => one.role === "tool").content;
const ran = (await house.events(run.context)).filter(({ type }) => type === "hook.ran");
const hooks = ran.map(({ data }) => {
  const { outcome, reason: why } = data as { outcome: string; reason: string };
  return [outcome, why];
});
console.log(JSON.stringify({ reason, text, answer, hooks }));
await house.close();
