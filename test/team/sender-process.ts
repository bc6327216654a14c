// One of many senders: NAME sends COUNT numbered messages to TO.
import { mechanismsOf } from "../../src/harness.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { readers } from "../../src/loop/host.ts";
import { sending } from "../../src/mechanisms/team/decide.ts";
import type { TeamState } from "../../src/mechanisms/team/state.ts";

const [file, context, name, to, count] = process.argv.slice(2);
const store = await openSqliteStore(file!);
const reading = readers(mechanismsOf({ root: "/", jobsDir: "/nowhere" }));
const ledger = await openLedger({ store, name: context!, ...reading });
for (let i = 0; i < Number(count); i++) {
  const facts = sending(ledger.state.slices.team as TeamState, name!, { to: to!, content: `${name} ${i}` });
  await ledger.append(facts.map((fact) => ({ ...fact, actor: name! })));
}
await store.close();
