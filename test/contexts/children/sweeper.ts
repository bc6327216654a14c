// A child that removes what is past its time: node sweeper.ts <file> gc|sweep. It says what went.
import { openContexts, sweepExpired } from "../../../src/contexts/index.ts";

const [file, how] = [process.argv[2]!, process.argv[3]];
const contexts = await openContexts({ file });
const removed = how === "gc" ? (await contexts.gc()).removed : await sweepExpired(contexts.store);
console.log(removed.length);
await contexts.close();
