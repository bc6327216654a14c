// A child that claims: node claimer.ts <file> <name> one <task> <times> | node claimer.ts <file> <name> all | node claimer.ts <file> <name> edges <from> <to>
import { openSqliteStore } from "../../../src/ledger/sqlite/index.ts";
import { openBoard } from "../../../src/mechanisms/tasks/index.ts";

const [file, name, what, first = "", second = ""] = process.argv.slice(2) as [string, string, string, string?, string?];
const store = await openSqliteStore(file);
const board = await openBoard(store, { runningPerOwner: 1 });
console.log("ready");
await new Promise((resolve) => process.stdin.once("data", resolve));
const waits: number[] = [];
const done: string[] = [];
if (what === "one") {
  for (let i = 0; i < Number(second); i++) {
    const by = { context: `ctx_${name}`, agent: `a${i}` };
    const from = performance.now();
    await board.claim(first, by).then(
      () => done.push(`${by.context}/${by.agent}`),
      () => undefined,
    );
    waits.push(performance.now() - from);
  }
} else if (what === "edges") {
  for (let i = 0; i < 5; i++)
    await board.update(first, { addBlockedBy: [second] }, { context: `ctx_${name}`, agent: "lead" }).then(
      () => done.push("added"),
      (error: Error) => done.push(error.message),
    );
} else {
  const by = { context: `ctx_${name}`, agent: "a" };
  for (;;) {
    const from = performance.now();
    const task = await board.claimNext(by);
    if (!task) break;
    waits.push(performance.now() - from);
    await board.complete(task.id, by);
    done.push(task.id);
  }
}
await store.close();
console.log(JSON.stringify({ done, waits }));
process.exit(0);
