// The Redis store passes the suite of every store.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import { storeConformance } from "../../src/testing/store-conformance.ts";
import { hasRedis, type RedisServer, startRedis } from "./redis-server.ts";

describe.runIf(hasRedis())("on a server of its own", () => {
  let server: RedisServer;
  let projects = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  storeConformance(
    {
      name: "redis",
      async create() {
        const url = server.url(`p${++projects}`);
        return { open: (opts) => openRedisStore(url, opts), dispose: async () => undefined };
      },
    },
    { describe, it, expect },
  );
});
