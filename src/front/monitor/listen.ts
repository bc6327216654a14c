// Listening on this machine alone. The usual port where it is free, so that a page that is open finds its server again.
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { HoldfastError } from "../../ledger/error.ts";
import { errorCode } from "../../ledger/guards.ts";
import { HEADERS } from "./answer-headers.ts";
import type { MonitorApp } from "./server.ts";

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Far more than pages have: what is more is somebody's mistake. */
const MOST_CONNECTIONS = 512;

/** `port`: wanted; `isGiven`: by a person, then no other one will do. */
export async function listenOnLoopback(
  app: (port: () => number) => MonitorApp,
  { port, isGiven }: { port: number; isGiven: boolean },
): Promise<Listening> {
  let own = 0;
  const { fetch } = app(() => own);
  const errorHandler = () => new Response(null, { status: 400, headers: HEADERS });
  const server = createServer(getRequestListener(fetch, { errorHandler }));
  server.maxConnections = MOST_CONNECTIONS;
  server.on("clientError", refuse);
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

/** What is no request gets the same headers as every answer. */
function refuse(error: Error, socket: Duplex): void {
  if (!socket.writable || errorCode(error) === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = errorCode(error) === "HPE_HEADER_OVERFLOW" ? 431 : 400;
  const lines = Object.entries({ ...HEADERS, connection: "close", "content-length": "0" });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join("\r\n")}\r\n\r\n`);
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
