// A child that appends until it is killed and says what was acknowledged: node appender.ts <place> <ledger> [times]
import { writeSync } from "node:fs";
import { openStore } from "../../../src/ledger/open-store.ts";
import { placeOf } from "./place.ts";

const [file, ledger, times] = [process.argv[2]!, process.argv[3]!, Number(process.argv[4] ?? Number.POSITIVE_INFINITY)];
const store = await openStore(placeOf(file));
for (let i = 0; i < times; i++) {
  const id = `${ledger}-${process.pid}-${i}`;
  const blobs = i % 10 === 0 ? [Buffer.from(id.repeat(1000))] : [];
  await store.append(
    [{ ledger, events: [{ id, type: "test.appended", actor: "child", touches: ["x"], data: { i } }] }],
    { blobs },
  );
  writeSync(1, `${id}\n`);
}
await store.close();
