// A store from outside passes the suite of every store: the package exports what it takes to write one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storeConformance } from "../../src/testing/index.ts";
import { createMemory, openMemoryStore } from "./memory-store.ts";

it("is made of the package's exports alone", () => {
  const text = readFileSync(join(import.meta.dirname, "memory-store.ts"), "utf8");
  const imports = [...text.matchAll(/from "([^"]+)"/g)].map((match) => match[1]);
  expect(imports).toEqual(["node:crypto", "node:util", "../../src/index.ts"]);
});

storeConformance(
  {
    name: "memory",
    async create() {
      const memory = createMemory();
      return { open: async (opts) => openMemoryStore(memory, opts), dispose: async () => undefined };
    },
  },
  { describe, it, expect },
);
