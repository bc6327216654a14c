// A child that raises a shared counter by read-modify-write: node counter.ts <place> <times>
import { isHoldfastError } from "../../../src/ledger/error.ts";
import { openStore } from "../../../src/ledger/open-store.ts";
import { placeOf } from "./place.ts";

const [file, times] = [process.argv[2]!, Number(process.argv[3])];
const store = await openStore(placeOf(file));
const waits: number[] = [];
let conflicts = 0;
for (let done = 0; done < times; ) {
  const version = await store.version("shared", "counter");
  let value = 0;
  for await (const event of store.read("shared", { after: Math.max(0, version - 1), upTo: version }))
    value = (event.data as { value: number }).value;
  const from = performance.now();
  try {
    const events = [
      { type: "counter.raised", actor: String(process.pid), touches: ["counter"], data: { value: value + 1 } },
    ];
    await store.append([{ ledger: "shared", events, expect: { counter: version } }]);
    done++;
  } catch (error) {
    if (!isHoldfastError(error, "conflict")) throw error;
    conflicts++;
  }
  waits.push(performance.now() - from);
}
await store.close();
console.log(JSON.stringify({ waits, conflicts }));
