import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { openContexts, type Problem } from "../../src/contexts/index.ts";
import { HoldfastError } from "../../src/ledger/error.ts";
import { big, openWorld, refusal, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

describe("shared data", () => {
  it("is read back by another process, whole or by path, short or long", async () => {
    const context = await world.contexts.create({ task: "collect" });
    const long = { items: Array.from({ length: 500 }, (_, i) => ({ name: `item ${i}`, tags: ["a", "b"] })) };
    await context.share("small", { a: { b: [1, 2, 3] }, "odd name": null }, { author: "collector", call: "c7" });
    await context.share("long", long);
    const other = await (await world.again()).get(context.id);
    expect(await other.read("small")).toEqual({ a: { b: [1, 2, 3] }, "odd name": null });
    expect(await other.read("long")).toEqual(long);
    expect(
      await Promise.all(
        ["$.a.b[0]", "$.a.b[-1]", "$['odd name']", "$.none", "a.b[1:]"].map((p) => other.read("small", p)),
      ),
    ).toEqual([1, 3, null, undefined, [2, 3]]);
    expect(await other.read("long", "$.items[0:3].name")).toEqual(["item 0", "item 1", "item 2"]);
    expect(await other.read("nothing")).toEqual(undefined);
    const listed = (await other.list()).map(({ at: _, preview, ...one }) => ({
      ...one,
      preview: preview.slice(0, 12),
    }));
    expect(listed).toEqual([
      {
        key: "long",
        type: "object",
        bytes: JSON.stringify(long).length,
        author: "user",
        version: 4,
        preview: '{"items":[{"',
      },
      { key: "small", type: "object", bytes: 35, author: "collector", version: 3, call: "c7", preview: '{"a":{"b":[1' },
    ]);
  });

  it("refuses a stale version, and a version that a restore has made stale", async () => {
    const context = await world.contexts.create({ task: "t" });
    const other = await (await world.again()).get(context.id);
    const first = await context.share("k", 1);
    await other.share("k", 2, { expect: first.version });
    expect((await refusal(context.share("k", 3, { expect: first.version }))).code).toEqual("conflict");
    expect((await refusal(context.share("k", 3, { expect: 0 }))).code).toEqual("conflict");
    await other.checkpoint("two");
    const third = await context.share("k", 3);
    await other.restore("two");
    expect(await refusal(context.share("k", 4, { expect: third.version }))).toEqual({
      code: "conflict",
      message: "k has version 8, not 6: read it again and decide anew (or use merge)",
    });
    await context.remove("k", { expect: 8 });
    await context.share("k", "new", { expect: 0 });
    expect(await other.read("k")).toEqual("new");
  });

  it("keeps every append of two processes, and a merge never drops one", async () => {
    const context = await world.contexts.create({ task: "t", lists: ["found"] });
    const other = await (await world.again()).get(context.id);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? context : other).append("found", { n: i, text: big(i % 5 ? 10 : 5000) }),
      ),
    );
    const list = (await context.read("found")) as { n: number }[];
    expect(list.map((one) => one.n).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    await Promise.all([
      other.append("list", "appended"),
      context.merge("list", (before) => [...((before as string[] | undefined) ?? []), "merged"]),
    ]);
    expect(((await other.read("list")) as string[]).sort()).toEqual(["appended", "merged"]);
    await context.share("number", 5);
    expect((await refusal(other.append("number", 1))).message).toEqual(
      "number holds a number, not a list: share an array there first",
    );
    expect((await refusal(other.share("found", {}))).code).toEqual("invalid");
  });

  it("joins by reducer what many write", async () => {
    const contexts = await world.again({ reducers: { total: (a, b) => (a as number) + (b as number) } });
    const made = await world.contexts.create({ task: "t" });
    const context = await contexts.get(made.id);
    await Promise.all([1, 2, 3, 4].map((n) => context.share("total", n)));
    expect(await made.read("total")).toEqual(10);
  });

  it("forgets a key after its time, and knows its history", async () => {
    const context = await world.contexts.create({ task: "t" });
    await context.share("k", 1, { author: "a" });
    await context.share("k", 2, { ttlMs: 0 });
    expect([await context.read("k"), await context.list()]).toEqual([undefined, []]);
    await context.append("k", "fresh");
    expect(await context.read("k")).toEqual(["fresh"]);
    await context.remove("k");
    expect((await refusal(context.remove("k"))).code).toEqual("not_found");
    expect(
      (await context.history("k")).map(({ op, author, version, bytes }) => ({ op, author, version, bytes })),
    ).toEqual([
      { op: "set", author: "a", version: 3, bytes: 1 },
      { op: "set", author: "user", version: 4, bytes: 1 },
      { op: "append", author: "user", version: 5, bytes: 7 },
      { op: "remove", author: "user", version: 6, bytes: 0 },
    ]);
    expect(await context.read("k", undefined, { version: 3 })).toEqual(1);
  });

  it("takes JSON only, and says where it is not", async () => {
    const context = await world.contexts.create({ task: "t" });
    const loop: Record<string, unknown> = {};
    loop.self = { loop };
    const bad: [unknown, string][] = [
      [undefined, "k: $ is undefined: share JSON values only"],
      [{ a: [1, { b: () => 1 }] }, "k: $.a[1].b is function: share JSON values only"],
      [[Number.NaN], "k: $[0] is NaN: share JSON values only"],
      [10n, "k: $ is bigint: share JSON values only"],
      [{ m: new Map([[1, 2]]) }, "k: $.m is a Map or a Set, which JSON has not: share JSON values only"],
      [[1, undefined], "k: $[1] is undefined: share JSON values only"],
      [loop, "k: $.self.loop is a part of itself: share JSON values only"],
    ];
    for (const [value, message] of bad)
      expect(await refusal(context.share("k", value))).toEqual({ code: "invalid", message });
    expect((await refusal(context.share("", 1))).code).toEqual("invalid");
    expect(await context.list()).toEqual([]);
    await context.share("__proto__", { toString: 1 });
    expect(await context.read("__proto__", "$.toString")).toEqual(1);
  });
});

describe("a write that does not fit", () => {
  it("its zod or JSON Schema is refused with path and reason in every process, and changes nothing", async () => {
    const context = await world.contexts.create({
      task: "t",
      schemas: {
        user: z.object({ name: z.string(), age: z.number().int().positive() }),
        tags: { type: "array", items: { type: "string" } },
      },
    });
    await context.share("user", { name: "Ada", age: 36 });
    const head = await world.contexts.store.head(context.id);
    for (const one of [context, await (await world.again()).get(context.id)]) {
      const { code, message } = await refusal(one.share("user", { name: "Ada", age: -1 }));
      expect([code, message]).toEqual([
        "invalid",
        "user: age: Too small: expected number to be >0; nothing was changed: share a value that fits its schema",
      ]);
      expect((await refusal(one.append("tags", 5))).message).toMatch(/^tags: \(root\): Invalid input: expected string/);
      expect((await refusal(one.shareAll({ free: 1, user: 5 }))).code).toEqual("invalid");
    }
    expect(head).toEqual(await world.contexts.store.head(context.id));
  });
});

describe("a schema for the whole", () => {
  it("knows its keys, and keeps the required ones", async () => {
    const context = await world.contexts.create({
      task: "t",
      schema: z.strictObject({ report: z.object({ title: z.string() }), notes: z.array(z.string()).optional() }),
    });
    expect(await context.read("report")).toBeUndefined(); // required is what cannot be removed, not what is there
    await context.share("report", { title: "T" });
    const other = await (await world.again()).get(context.id); // a program that only opened it
    expect((await refusal(other.remove("report"))).code).toEqual("invalid");
    expect((await refusal(context.share("other", 1))).message).toEqual(
      "other: the schema of this context knows no such key (it has report, notes); nothing was changed: share a value that fits its schema",
    );
    expect((await refusal(context.remove("report"))).message).toMatch(
      /^report: the schema of this context requires it/,
    );
    await context.append("notes", "n");
    expect((await refusal(world.contexts.create({ task: "t", schema: z.string() }))).code).toEqual("invalid");
    expect((await refusal(world.contexts.create({ task: "t", schemas: { k: { if: {} } } }))).message).toMatch(
      /^the schema of k cannot be used/,
    );
  });
});

describe("a quota", () => {
  it("refuses a value, a sum and a number of keys beyond it, whoever writes", async () => {
    const quotas = { valueBytes: 100, contextBytes: 150, keys: 3 };
    const context = await world.contexts.create({ task: "t", quotas });
    const other = await (await world.again()).get(context.id);
    expect(await refusal(context.share("k", big(200)))).toEqual({
      code: "limit",
      message:
        "k would have 202 bytes, the quota is 100 for a value; nothing was changed: remove data or raise the quota with configure()",
    });
    const tries = await Promise.all(
      [context, other, context, other].map((one, i) => refusal(one.share(`k${i}`, big(60)))),
    );
    expect(tries.map((one) => one.code).sort()).toEqual(["limit", "limit", "none", "none"]);
    await context.share((await context.list())[0]!.key, big(80)); // replaced, not added
    await context.configure({ quotas: { keys: 3 } });
    await other.share("third", 1);
    expect((await refusal(context.append("fourth", 1))).message).toMatch(/^there would be 4 keys, the quota is 3;/);
    await other.remove("third");
    await context.append("fourth", 1);
  });
});

describe("a damaged value", () => {
  it("is read from its last good version, reported by key, and mended by recover()", async () => {
    const context = await world.contexts.create({ task: "t" });
    await context.share("k", big(5000, "good "));
    const bad = await context.share("k", big(5000, "bad "));
    await context.share("alone", big(5000, "gone "));
    await context.share("list", [1]);
    await context.append("list", big(5000, "lost "));
    await context.append("list", 3);
    await world.contexts.close();
    const db = new DatabaseSync(world.file);
    const hashes = db
      .prepare("SELECT data FROM events WHERE data LIKE '%\"hash\"%'")
      .all()
      .map((row) => JSON.parse(String(row.data)));
    for (const prefix of ['"bad', '"gone', '"lost']) {
      const { hash } = hashes.find((one) => one.preview.startsWith(prefix));
      db.prepare("DELETE FROM blobs WHERE hash = ?").run(Buffer.from(hash, "hex"));
    }
    db.close();

    const told: Problem[] = [];
    const again = await (await world.again({ onProblem: (one) => told.push(one) })).get(context.id);
    expect(await again.read("k")).toEqual(big(5000, "good "));
    expect(await again.read("list")).toEqual([1, 3]);
    expect((await refusal(again.read("alone"))).code).toEqual("damaged");
    expect(told.map(({ key, version, recoveredFrom }) => ({ key, version, recoveredFrom }))).toEqual([
      { key: "k", version: bad.version, recoveredFrom: bad.version - 1 },
      { key: "list", version: 7, recoveredFrom: undefined },
    ]);
    expect((await again.problems()).map((one) => one.key)).toEqual(["k", "alone", "list"]);
    await again.recover();
    expect((await again.problems()).map((one) => one.key)).toEqual(["alone"]);
    expect((await again.history("k")).at(-1)).toMatchObject({ op: "set", recovers: bad.version });
    expect(await again.read("list")).toEqual([1, 3]);
  });

  it("is told from a store that cannot be read: that error is the answer, not a report of it", async () => {
    const made = await world.contexts.create({ task: "t" });
    await made.share("k", big(5000, "good "));
    await made.share("short", 1);
    const { store } = world.contexts;
    const failing = { ...store, blob: () => Promise.reject(new HoldfastError("disk", "the disk is gone")) };
    const context = await (await openContexts({ store: failing })).get(made.id);
    expect(await refusal(context.problems())).toEqual({ code: "disk", message: "the disk is gone" });
    expect(await refusal(context.recover())).toEqual({ code: "disk", message: "the disk is gone" });
  });

  it("also when a later schema no longer fits it", async () => {
    const context = await world.contexts.create({ task: "t" });
    await context.share("n", 1);
    await context.share("n", "two");
    await context.configure({ schemas: { n: z.number() } });
    expect(await context.read("n")).toEqual(1);
    expect(await context.problems()).toEqual([
      { key: "n", version: 4, reason: "(root): Invalid input: expected number, received string", recoveredFrom: 3 },
    ]);
  });
});
