// A child that reads ledgers whole and checks them: node reader.ts <place> <ledger>...
import { openPlace, say } from "./place.ts";

const [place = "", ...ledgers] = process.argv.slice(2);
const store = await openPlace(place);
for (const ledger of ledgers) for await (const { id, seq, data } of store.read(ledger)) say({ ledger, id, seq, data });
say({ damage: (await store.verify()).damage });
await store.close();
