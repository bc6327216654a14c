// Listening on this machine alone. The usual port where it is free, so that a page that is open finds its server again.
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { HoldfastError } from "../../ledger/error.ts";
import { errorCode } from "../../ledger/guards.ts";
import type { MonitorApp } from "./server.ts";

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";

/** `port`: wanted; `isGiven`: by a person, then no other one will do. */
export async function listenOnLoopback(
  app: (port: () => number) => MonitorApp,
  { port, isGiven }: { port: number; isGiven: boolean },
): Promise<Listening> {
  let own = 0;
  const { fetch } = app(() => own);
  const server = createAdaptorServer({ fetch }) as Server; // without options it is one of node:http
  try {
    await begun(server, port);
  } catch (error) {
    if (errorCode(error) !== "EADDRINUSE" || isGiven) throw taken(error, port);
    await begun(server, 0);
  }
  const address = server.address();
  own = typeof address === "object" && address ? address.port : port;
  return {
    port: own,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections(); // pages stay connected for as long as they are open
      }),
  };
}

const begun = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });

function taken(error: unknown, port: number): unknown {
  if (errorCode(error) === "EADDRINUSE")
    return new HoldfastError("invalid", `port ${port} is taken: give another --port, or none`, { cause: error });
  if (errorCode(error) === "EACCES")
    return new HoldfastError("invalid", `port ${port} is not for you to listen on: give one above 1023`, {
      cause: error,
    });
  return error;
}
