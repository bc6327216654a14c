// A child that appends until it is told to end, each event until it is known what became of it:
// node writer.ts <place> <ledger> <name> <pause in ms> [lease in ms]
import { setTimeout as sleep } from "node:timers/promises";
import { isHoldfastError } from "../../../../src/ledger/error.ts";
import { openPlace, say, untilToldToEnd } from "./place.ts";

const [place = "", ledger = "", name = "", pause = "0", leaseMs] = process.argv.slice(2);
const over = untilToldToEnd();
const store = await openPlace(place, leaseMs === undefined ? {} : { leaseMs: Number(leaseMs) });
say({ durability: store.durability });
for (let i = 0; !over.aborted; ) {
  const id = `${name}-${i}`;
  try {
    const events = [{ id, type: "test.written", actor: name, data: { i, filler: "x".repeat(200) } }];
    const [stored] = await store.append([{ ledger, events }]);
    say({ ledger, id, seq: stored?.seq });
    i++;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    say({ error: error.code, id, what: error.message });
  }
  if (pause !== "0") await sleep(Number(pause));
}
await store.close();
