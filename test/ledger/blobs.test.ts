// Blobs: every length comes back, a flipped byte never does, and what the caller does with its bytes afterwards changes nothing.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { joinParts, packBlob } from "../../src/ledger/blob-parts.ts";
import { blobHash } from "../../src/ledger/checksum.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-blobs-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Where the length in a zstd frame takes another form, and where blobs are cut or packed aside. */
const LENGTHS = [0, 1, 63, 64, 255, 256, 257, 4096, 65_535, 65_536, 65_537, 65_791, 65_792, 1 << 20, (1 << 20) + 1];
const text = (length: number) => Buffer.alloc(length, "what agents share, over and over; ");

describe("a blob", () => {
  it("comes back whole at every length", async () => {
    const store = await openSqliteStore(join(folder, "lengths.db"));
    const blobs = LENGTHS.flatMap((length) => [text(length), randomBytes(length)]);
    await store.append([{ ledger: "x", events: [{ type: "test.kept", actor: "t", data: 1 }] }], { blobs });
    for (const one of blobs) expect(Buffer.compare((await store.blob(blobHash(one)))!, one)).toEqual(0);
    await store.close();
  });

  it("that has any bit of its packed form flipped is not given out", async () => {
    for (const length of [64, 300, 70_000]) {
      const bytes = text(length);
      const { parts } = await packBlob(bytes);
      const data = Buffer.from(parts[0]!.data);
      const read = () => joinParts(blobHash(bytes), [{ part: 0, parts: 1, codec: parts[0]!.codec, data }]);
      for (let bit = 0; bit < data.length * 8; bit++) {
        data[bit >> 3]! ^= 1 << (bit & 7);
        const back = read();
        // Some bits of a frame mean nothing: then the bytes are right.
        expect(back === undefined || Buffer.compare(back, bytes) === 0).toEqual(true);
        data[bit >> 3]! ^= 1 << (bit & 7);
      }
      expect(Buffer.compare(read()!, bytes)).toEqual(0);
    }
  });

  it("is named by what it holds, also when the same buffer is used again", async () => {
    const store = await openSqliteStore(join(folder, "again.db"));
    const buffer = text(5000);
    const names: string[] = [];
    for (const letter of ["a", "b"]) {
      buffer.fill(letter);
      names.push(blobHash(buffer));
      const event = { type: "test.kept", actor: "t", data: names.at(-1) };
      await store.append([{ ledger: "x", events: [event] }], { blobs: [buffer] });
    }
    const first = await Promise.all(names.map(async (name) => String.fromCharCode((await store.blob(name))![0]!)));
    expect(first).toEqual(["a", "b"]);
    expect((await store.verify()).damage).toEqual([]);
    await store.close();
  });
});
