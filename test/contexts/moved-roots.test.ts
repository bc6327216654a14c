// A moved folder, seen by several processes at once: each context is told once.
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { settleMovedRoots } from "../../src/contexts/project/moved-roots.ts";
import type { Project } from "../../src/contexts/project.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { scratch } from "../turn.ts";

test("of several processes that find a folder at another path one records it, for each context", async () => {
  const dir = scratch(onTestFinished);
  const file = path.join(dir, "ledger.db");
  const stores = await Promise.all([1, 2, 3].map(() => openSqliteStore(file)));
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  const [store] = stores;
  const contexts = await openContexts({ store: store!, cwd: dir });
  const ids = await Promise.all(["one", "two"].map(async (task) => (await contexts.create({ task, root: dir })).id));
  const place = { formerly: [dir], top: "/after", stateDir: dir, root: "/after", id: "p", ledgers: { file } };
  const project: Project = { ...place, alsoAt: [] };
  await Promise.all(stores.map((one) => settleMovedRoots(one, project)));
  for (const id of ids) {
    const moves: unknown[] = [];
    for await (const event of store!.read(id, { types: ["context.moved"] })) moves.push(event.data);
    expect(moves).toEqual([{ from: dir, to: "/after" }]);
  }
});
