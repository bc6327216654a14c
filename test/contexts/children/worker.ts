// A child that works on a context and is killed in the middle: node worker.ts <file> <context>
import { openContexts } from "../../../src/contexts/index.ts";

const contexts = await openContexts({ file: process.argv[2]! });
const context = await contexts.get(process.argv[3]!);
await context.begin();
await context.share("phase", 1);
await context.checkpoint("phase 1");
await context.share("phase", 2);
console.log("working");
setInterval(() => {}, 1000);
