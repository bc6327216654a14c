// Listening on this machine alone. The usual port where it is free, so that a page that is open finds its server again.
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
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

/** Who connects asks within this time, or has to connect again. */
const ASK_WITHIN_MS = 5_000;
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
  const times = { headersTimeout: ASK_WITHIN_MS, connectionsCheckingInterval: 1_000 };
  const server = createServer(times, getRequestListener(fetch, { errorHandler }));
  boundConnections(server);
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

/** Where there are too many, the one goes that has asked nothing for the longest: whoever only connects keeps nobody out. */
function boundConnections(server: Server): void {
  const idle = new Set<Socket>();
  let open = 0;
  server.on("connection", (socket: Socket) => {
    open++;
    idle.add(socket);
    socket.once("close", () => {
      open--;
      idle.delete(socket);
    });
    const [longest] = idle;
    if (open > MOST_CONNECTIONS) longest?.destroy();
  });
  server.on("request", ({ socket }, answer) => {
    idle.delete(socket);
    answer.once("close", () => !socket.destroyed && idle.add(socket));
  });
}

/** What is no request gets the same headers as every answer. */
function refuse(error: Error, socket: Duplex): void {
  if (!socket.writable || ["ECONNRESET", "ERR_HTTP_REQUEST_TIMEOUT"].includes(errorCode(error) ?? "")) {
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
