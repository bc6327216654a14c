// A child that raises shared counters by read-modify-write: node merger.ts <file> <context> <times> <keys>. It says "ready" and
// begins when its input ends, so that the start of other children does not count as waiting.
import { openContexts } from "../../../src/contexts/index.ts";

const [file, id, times, keys] = [process.argv[2]!, process.argv[3]!, Number(process.argv[4]), Number(process.argv[5])];
const contexts = await openContexts({ file });
const context = await contexts.get(id, { author: String(process.pid) });
const waits: number[] = [];
console.log("ready");
for await (const _ of process.stdin);
for (let i = 0; i < times; i++) {
  const from = performance.now();
  await context.merge(`counter ${i % keys}`, (value) => ((value as number | undefined) ?? 0) + 1);
  waits.push(performance.now() - from);
}
await contexts.close();
console.log(JSON.stringify(waits));
