// A child that opens a context, lists it and reads one part, and says what memory it took: node reader.ts <file> <context>
import { readFileSync } from "node:fs";
import { openContexts } from "../../../src/contexts/index.ts";

const contexts = await openContexts({ file: process.argv[2]! });
const context = await contexts.get(process.argv[3]!);
const keys = (await context.list()).map((one) => one.key);
const part = keys.length > 0 ? await context.read(keys[7]!, "$.rows[0:2].id") : undefined;
await context.share("mark", 1);
await context.checkpoint("read");
await contexts.close();
const peakKib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]);
console.log(JSON.stringify({ keys: keys.length, part, peakKib }));
