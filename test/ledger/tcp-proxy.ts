// A small TCP proxy between a store and its server: it drops answers, hangs, cuts, refuses.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  port: number;
  /** The next answer of the server is swallowed, and its connection reset: what was asked for has happened. */
  dropNextAnswer(): Promise<void>;
  /** Nothing is passed on in either direction, on connections that are there and on new ones. */
  hang(): void;
  /** After so many more bytes to the server the connection is reset, once. */
  resetAfter(bytes: number): void;
  /** All connections are reset, and new ones refused. */
  cut(): void;
  /** Everything passes again. */
  heal(): void;
  /** How many connections were made. */
  readonly made: number;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<{ client: Socket; server: Socket }>();
  let mode: "pass" | "hang" | "cut" = "pass";
  let dropped: (() => void) | undefined;
  let resetIn = Number.POSITIVE_INFINITY;
  let made = 0;

  const listener = createServer((client) => {
    if (mode === "cut") return void client.resetAndDestroy();
    made++;
    const server = connect(target, "127.0.0.1");
    const pair = { client, server };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    client.on("data", (bytes) => {
      if (mode === "hang") return;
      resetIn -= bytes.length;
      if (resetIn > 0) return void server.write(bytes);
      resetIn = Number.POSITIVE_INFINITY;
      server.write(bytes.subarray(0, bytes.length / 2));
      client.resetAndDestroy();
      end();
    });
    server.on("data", (bytes) => {
      if (mode === "hang") return;
      if (!dropped) return void client.write(bytes);
      dropped();
      dropped = undefined;
      client.resetAndDestroy();
      end();
    });
    for (const socket of [client, server]) {
      socket.on("error", end);
      socket.on("close", end);
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (typeof address !== "object" || !address) throw new Error("no port");
  const cutAll = () => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  return {
    port: address.port,
    dropNextAnswer: () =>
      new Promise((resolve) => {
        dropped = resolve;
      }),
    hang() {
      mode = "hang";
    },
    resetAfter(bytes) {
      resetIn = bytes;
    },
    cut() {
      mode = "cut";
      cutAll();
    },
    heal() {
      mode = "pass";
    },
    get made() {
      return made;
    },
    async close() {
      mode = "cut";
      cutAll();
      listener.close();
      await once(listener, "close");
    },
  };
}
