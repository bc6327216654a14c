// A child that shares long values: node --expose-gc sharer.ts <file> <times>. It says how many bytes it keeps of each.
import { openContexts } from "../../../src/contexts/index.ts";

const [file, times] = [process.argv[2]!, Number(process.argv[3])];
const contexts = await openContexts({ file });
const context = await contexts.create({ task: "long values" });
const kept = () => {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
};
const share = async (i: number) => context.share(`key ${i}`, `${i} ${"long ".repeat(100_000)}`);
await share(0);
const before = kept();
for (let i = 1; i <= times; i++) await share(i);
console.log(Math.round((kept() - before) / times));
await contexts.close();
