// 120 facts in 120 results, far more than the window has room for: each is in view, or one recall with a name that the view shows brings it back.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { Model } from "../../src/models/model.ts";
import { openModel } from "../../src/models/open-model.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { openHouse } from "../house.ts";
import { calling, inOrder, recalledOf, recalls } from "./playing.ts";

const COUNT = 120;
const fact = (n: number) => `FACT-${n * 7919}-${n % 2 === 0 ? "even" : "奇数"}`;
const numbers = Array.from({ length: COUNT }, (_, i) => i + 1);

/** The calls that a view names: each by its line, or within the range of rounds that are left out. */
function namedIn(view: string): Set<string> {
  const named = new Set([...view.matchAll(/recall (c\d+)/g)].map(([, name]) => name!));
  for (const [, from, to] of view.matchAll(/calls c(\d+) to c(\d+)/g))
    for (let n = Number(from); n <= Number(to); n++) named.add(`c${n}`);
  return named;
}

test("120 planted facts: each is in view, or comes back by one recall with the name shown there, also by the next host", async () => {
  const rounds: ScriptRound[] = [
    ...numbers.map((n) => calling("read_file", { path: `f${n}.txt` })),
    { text: "All are read." },
    ...Array.from({ length: 12 }, (_, i) =>
      recalls(...numbers.slice(i * 10, i * 10 + 10).map((n) => ({ ref: `c${n}` }))),
    ),
  ];
  const script = inOrder(({ body }) => ({
    ...(rounds.shift() ?? { text: "done" }),
    usage: { input: JSON.stringify(body).length / 4 },
  }));
  const house = await openHouse(script, { hooks: undefined }); // 480 of them would take most of the time
  try {
    for (const n of numbers) {
      const lines = Array.from({ length: 100 }, (_, i) =>
        i === n % 100 ? fact(n) : `line ${i} of file ${n}, as any other`,
      );
      fs.writeFileSync(path.join(house.root, `f${n}.txt`), lines.join("\n"));
    }
    const env = { OPENAI_BASE_URL: house.server.openaiUrl, ...KEYS };
    const model = await openModel("openai-compatible/mock", { env });
    const small: Model = Object.create(model, { limits: { value: { ...model.limits, contextTokens: 32_000 } } });
    const reading = await house.again({ model: small });
    const run = await reading.run("Read all files.");
    expect((await run.result).reason).toBe("done");
    await run.taken.release();
    const view = JSON.stringify(house.server.log().requests.at(-1)!.body.messages);
    const named = namedIn(view);
    const hidden = numbers.filter((n) => !view.includes(fact(n)));
    expect(hidden.length).toBeGreaterThan(COUNT / 2);
    expect(hidden.filter((n) => !named.has(`c${n}`))).toEqual([]);
    await reading.close();

    const recalling = await house.again({ model: small });
    const again = await recalling.run("What did they say?", { context: run.context });
    expect((await again.result).reason).toBe("done");
    await again.taken.release();
    const shown = await recalledOf(house, run.context, "lead");
    expect(numbers.filter((n) => !shown[n - 1]?.includes(fact(n)))).toEqual([]);
    await recalling.close();
  } finally {
    await house.close();
  }
});
