import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { nextSum } from "../../src/contexts/portable-lines.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { big, openWorld, refusal, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

const noise = (n: number, seed: string) =>
  Array.from({ length: n }, (_, i) => createHash("sha256").update(`${seed}${i}`).digest("base64")).join("");

describe("a context", () => {
  it("is made, listed, configured, and deleted with what is in it", async () => {
    const { contexts } = world;
    const made = await contexts.create({
      task: "collect",
      metadata: { team: "x" },
      ttlMs: 1000,
      budget: { usd: 1 },
      root: world.folder,
    });
    await made.configure({ ttlMs: null, metadata: { team: "y" } });
    expect(await made.details()).toMatchObject({
      task: "collect",
      metadata: { team: "y" },
      budget: { usd: 1 },
      root: world.folder,
      keys: 0,
    });
    expect((await made.details()).ttlMs).toEqual(undefined);
    await made.setAgent("lead", { status: "busy", tool: "grep" });
    await made.setAgent("lead", { tool: null, rounds: 2 });
    const { at: _, ...lead } = (await made.agents()).lead!;
    expect(lead).toEqual({ status: "busy", rounds: 2 });
    await made.logError({ agent: "lead", tool: "bash", message: "exit 1", cause: "no space" });
    expect((await made.errors()).map(({ at: _, ...error }) => error)).toEqual([
      { agent: "lead", tool: "bash", message: "exit 1", cause: "no space" },
    ]);
    expect((await contexts.list()).map(({ id, title, status }) => ({ id, title, status }))).toEqual([
      { id: made.id, title: "collect", status: "idle" },
    ]);
    await contexts.delete(made.id);
    expect([await contexts.list(), (await refusal(contexts.get(made.id))).code]).toEqual([[], "not_found"]);
    expect((await refusal(contexts.get("ctx_never"))).code).toEqual("not_found");
  });

  it("is running while someone works on it, then what the work ended as", async () => {
    const { contexts } = world;
    const context = await contexts.create({ task: "t" });
    const status = async () => (await contexts.list())[0]!.status;
    const lead = await context.begin();
    const helper = await context.begin({ agent: "helper" });
    expect((await refusal((await world.again()).get(context.id).then((one) => one.begin()))).code).toEqual("held");
    expect((await refusal(contexts.delete(context.id))).code).toEqual("held");
    await lead.end("done");
    expect(await status()).toEqual("running");
    await helper.end("paused");
    expect(await status()).toEqual("paused");
    await context.checkpoint("half");
    expect((await contexts.resumable()).map(({ id, checkpoint }) => [id, checkpoint?.name])).toEqual([
      [context.id, "half"],
    ]);
    await (await context.begin()).end("failed", { error: "no" });
    expect([await status(), (await context.agents()).lead]).toMatchObject([
      "failed",
      { status: "failed", lastError: "no" },
    ]);
    expect(await contexts.list({ status: ["running", "paused"] })).toEqual([]);
  });

  it("opens from a snapshot and what came after, to the same state", async () => {
    const { contexts } = world;
    const context = await contexts.create({ task: "t" });
    for (let i = 0; i < 30; i++)
      await context.shareAll(Object.fromEntries(Array.from({ length: 20 }, (_, k) => [`k${k}`, i])));
    await contexts.close();
    const again = await world.again();
    await (await again.get(context.id)).share("k0", "after");
    expect((await again.store.snapshots(context.id).load(["contexts@5"])).get("contexts@5")).toMatchObject({
      seq: 602,
    });
    const verdict = await (await world.again()).verify(context.id);
    expect([verdict.ok, verdict.contexts.map((one) => one.events)]).toEqual([true, [603]]);
  });
});

describe("gc", () => {
  it("removes what is past its time with its values, says first what would go, and keeps what runs or forked", async () => {
    const { contexts } = world;
    const shared = noise(500, "shared");
    const [old, running, young, never] = await Promise.all([
      contexts.create({ task: "old", ttlMs: 1000 }),
      contexts.create({ task: "running", ttlMs: 1000 }),
      contexts.create({ task: "young", ttlMs: 1e9 }),
      contexts.create({ task: "never" }),
    ]);
    await old.share("own", noise(500, "own"));
    await old.share("shared", shared);
    await young.share("shared", shared);
    await never.share("small", 1);
    await old.checkpoint("c");
    const fork = await old.updateState("c", { own: "edited" });
    await fork.configure({ ttlMs: null });
    await running.begin();
    const now = Date.now() + 10_000;
    const plan = await contexts.gc({ dryRun: true, now });
    expect(plan).toMatchObject({
      removed: [{ id: old.id, title: "old", ttlMs: 1000 }],
      kept: [{ id: running.id, reason: `process ${process.pid} runs an agent in it` }],
      blobs: 0, // the fork's history still names both values
    });
    expect((await contexts.list()).length).toEqual(5);
    await contexts.delete(fork.id);
    const plan2 = await contexts.gc({ dryRun: true, now });
    expect([plan2.blobs, plan2.bytes > 15_000]).toEqual([1, true]);
    expect(await contexts.gc({ now })).toEqual(plan2);
    expect((await contexts.list()).map((one) => one.title).sort()).toEqual(["never", "running", "young"]);
    expect(await young.read("shared")).toEqual(shared);
    expect((await contexts.verify()).ok).toEqual(true);
    expect((await contexts.gc({ now, defaultTtlMs: 5000 })).removed.map((one) => one.title)).toEqual(["never"]);
  });

  it("leaves a context alone in which something happened since it was looked at", async () => {
    const { contexts } = world;
    const context = await contexts.create({ task: "t", ttlMs: 0 });
    const { store } = contexts;
    const late = await openContexts({
      store: Object.create(store, {
        collect: {
          value: async (opts: Parameters<typeof store.collect>[0]) => {
            await context.share("k", 1);
            return store.collect(opts);
          },
        },
      }),
    });
    expect(await late.gc()).toMatchObject({
      removed: [],
      kept: [{ id: context.id, reason: "something was recorded meanwhile" }],
    });
    expect(await context.read("k")).toEqual(1);
  });
});

describe("export and import", () => {
  async function filled() {
    const context = await world.contexts.create({
      task: "t",
      title: "T",
      ttlMs: 5e9,
      schemas: { n: { type: "number" } },
    });
    await context.share("n", 1, { author: "a" });
    await context.share("long", { text: noise(60_000, "long") }); // three parts
    await context.append("results", { ü: big(9000) });
    await context.checkpoint("c");
    await context.share("n", 2);
    await context.restore("c");
    // What the loop writes goes along, its blobs too.
    const output = Buffer.from(noise(100, "output"));
    const text = `kept as blob:${createHash("sha256").update(output).digest("hex")}`;
    await world.contexts.store.append(
      [{ ledger: context.id, events: [{ type: "loop.thing", actor: "lead", data: { text } }] }],
      { blobs: [output] },
    );
    return context;
  }

  it("carry everything into another store: same hashes, same data, and it verifies", async () => {
    const context = await filled();
    const file = join(world.folder, "t.hfctx");
    const exported = await world.contexts.export(context.id, file);
    expect(exported).toMatchObject({ id: context.id, events: 10, blobs: 3, missing: [] });
    expect(statSync(file).mode & 0o777).toEqual(0o600);
    const other = await openWorld();
    try {
      const imported = await other.contexts.import(file);
      expect(imported).toEqual({ id: context.id, from: context.id, events: 10, blobs: 3, hash: exported.hash });
      expect(await other.contexts.verify(context.id)).toMatchObject({ ok: true, contexts: [{ events: 11 }] }); // and that it is a copy
      const copy = await other.contexts.get(context.id);
      expect([await copy.read("n"), await copy.read("long"), await copy.details()]).toEqual([
        1,
        await context.read("long"),
        await context.details(),
      ]);
      expect(await copy.history("n")).toEqual(await context.history("n"));
      expect((await other.contexts.list())[0]).toMatchObject({ title: "T", ttlMs: 5e9, status: "idle" });
      // Again: nothing is overwritten.
      const second = await other.contexts.import(file);
      expect([second.id === context.id, (await other.contexts.list()).length]).toEqual([false, 2]);
      expect(await (await other.contexts.get(second.id)).read("n")).toEqual(1);
      expect(readdirSync(world.folder).filter((name) => name.endsWith(".new"))).toEqual([]);
    } finally {
      await other.dispose();
    }
  });

  it("refuse a line that says something else, although its checksum is right", async () => {
    const context = await filled();
    const file = join(world.folder, "t.hfctx");
    await world.contexts.export(context.id, file);
    const [header = ""] = readFileSync(file, "utf8").split("\n");
    const said: string[] = [];
    for (const line of ["null", "5", '{"event":null}', '{"event":{"seq":1}}', '{"blob":7}', "{", '{"end":true}']) {
      const sum = header.slice(0, 32);
      writeFileSync(file, `${header}\n${nextSum(sum, line)} ${line}\n`);
      said.push(
        (await refusal(world.contexts.import(file))).message.replace(`${file}: `, "").replace(/byte \d+/, "byte N"),
      );
    }
    const place = "line 2 (byte N): it is no line of an exported context";
    expect(said).toEqual(said.map(() => `${place}; nothing was imported: export it again or take another copy`));
    expect((await world.contexts.list()).length).toBe(1);
  });

  it("refuse every flipped byte and every cut by its place, and write nothing", async () => {
    const context = await filled();
    const file = join(world.folder, "t.hfctx");
    await world.contexts.export(context.id, file);
    const whole = readFileSync(file);
    const starts = [0];
    for (let at = whole.indexOf(10); at >= 0; at = whole.indexOf(10, at + 1)) starts.push(at + 1);
    const other = await openWorld();
    const damaged = join(world.folder, "damaged");
    const attempt = async (bytes: Buffer) => {
      writeFileSync(damaged, bytes);
      try {
        await other.contexts.import(damaged);
      } catch (error) {
        if (isHoldfastError(error, "damaged")) return error.detail as { line: number; byte: number };
        throw error;
      }
      return undefined;
    };
    try {
      for (let i = 0; i < 60; i++) {
        const at = i < 12 ? starts[i % (starts.length - 1)]! : Math.floor((whole.length * i) / 60);
        const bytes = Buffer.from(whole);
        bytes[at]! ^= 1 << (i % 8);
        const line = starts.findLastIndex((start) => start <= at);
        const found = await attempt(bytes);
        // A newline that is one no more joins two lines; the place is where the first begins.
        expect({ at, found }).toEqual({ at, found: expect.objectContaining({ line: line + 1, byte: starts[line] }) });
      }
      for (const cut of [starts[1]!, starts[3]!, starts.at(-2)!, whole.length - 1, 5]) {
        expect(await attempt(whole.subarray(0, cut))).toBeDefined();
      }
      expect(await other.contexts.list()).toEqual([]);
      expect(await other.contexts.store.head(context.id)).toEqual(0);
      expect((await refusal(other.contexts.import(join(world.folder, "none")))).code).toEqual("not_found");
    } finally {
      await other.dispose();
    }
  });

  it("an import that was killed half-way is not listed, and swept", async () => {
    const { contexts } = world;
    const { store } = contexts;
    await store.append([
      { ledger: "ctx_half", events: [{ type: "context.created", actor: "u", data: {} }], summary: { importing: true } },
    ]);
    expect(await contexts.list()).toEqual([]);
    expect((await contexts.gc()).removed.map((one) => one.id)).toEqual(["ctx_half"]);
  });

  it("says in verify what a flipped byte in the store has hurt", async () => {
    const context = await filled();
    await context.share("own", noise(100, "own"));
    await world.contexts.close();
    const copy = join(world.folder, "copy.db");
    copyFileSync(world.file, copy);
    const bytes = readFileSync(copy);
    const at = bytes.indexOf('"key":"own"');
    bytes[at + 8]! ^= 1;
    writeFileSync(copy, bytes);
    const contexts = await openContexts({ file: copy });
    const verdict = await contexts.verify();
    expect([verdict.ok, verdict.damage.some((one) => one.ledger === context.id && one.seq === 11)]).toEqual([
      false,
      true,
    ]);
    const hurt = await contexts.get(context.id);
    expect(await hurt.read("n")).toEqual(1); // what is before it can be read
    expect((await refusal(hurt.share("n", 5))).code).toEqual("damaged");
    await contexts.close();
  });
});
