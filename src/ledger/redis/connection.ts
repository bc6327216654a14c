// One connection to a Redis server: commands and their answers, and the end of it when one hangs.

import { isIP } from "node:net";
import { HoldfastError } from "../error.ts";
import { errorCode } from "../guards.ts";
import { LostAnswer } from "../networked/until-known.ts";
import type { Endpoint, RedisAddress } from "./address.ts";

export type Argument = string | Buffer;

interface CallOptions {
  /** The connection ends when the answer takes longer. */
  hangMs: number;
  /** Texts come as bytes. */
  bytes?: boolean;
  /** True: does not keep the process alive. */
  aside?: boolean;
}

export interface RedisConnection {
  readonly isOpen: boolean;
  /** Contract: throws `LostAnswer` where it is not known what became of it, and `ServerError` with the code of what the server refused. */
  call(args: readonly Argument[], opts: CallOptions): Promise<unknown>;
  close(): void;
}

/** What the server said instead of an answer. */
export class ServerError extends Error {
  /** The first word of what it said, by which the protocol tells errors apart. */
  readonly code: string;
  constructor(said: string) {
    super(said);
    this.name = "ServerError";
    [this.code = ""] = said.split(" ", 1);
  }
}

/** It works again by itself, or on the server that took over: asked again on a new connection. */
const PASSING = new Set([
  ...["LOADING", "MASTERDOWN", "READONLY", "NOREPLICAS", "TRYAGAIN", "CLUSTERDOWN", "BUSY", "UNBLOCKED", "FAILOVER"],
]);
const FULL = new Set(["OOM", "MISCONF"]);
const DENIED = new Set(["NOAUTH", "WRONGPASS", "NOPERM"]);
/** Of the codes that Node gives to errors: the server's certificate is not trusted, or it speaks no TLS. */
const UNTRUSTED = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/;

/** Likewise: no server is at that address. One whose name is not known yet (EAI_AGAIN) may be. */
const NOBODY = new Set(["ECONNREFUSED", "ENOTFOUND"]);

/** Contract: the error that a `ServerError` is to whoever asked; undefined: only the step that was asked for knows. */
function meaning(error: ServerError, shown: string): Error | undefined {
  if (PASSING.has(error.code)) return new LostAnswer(`it says ${error.code}`, { cause: error });
  if (FULL.has(error.code))
    return new HoldfastError(
      "disk",
      `the store ${shown} takes no more (${error.code}: its memory or its disk is full): give the server room`,
      {
        cause: error,
      },
    );
  if (DENIED.has(error.code))
    return new HoldfastError(
      "refused",
      `the store ${shown} refuses this user (${error.code}): check user, password and what they may do`,
      { cause: error },
    );
  return undefined;
}

/** A server without TLS waits for the end of what it takes for a command. */
const TLS_MS = 2_000;

/** Contract: `withinMs` covers the whole of it, greeting included. */
export async function connectRedis(
  address: RedisAddress,
  { host, port }: Endpoint,
  opts: { withinMs: number; password?: string | undefined; database?: number; username?: string | undefined },
): Promise<RedisConnection> {
  const { ConnectionTimeoutError, createClient, ErrorReply, RESP_TYPES } = await import("@redis/client");
  const { password, username, database } = opts;
  const withinMs = address.tls ? Math.min(opts.withinMs, TLS_MS) : opts.withinMs;
  const tls = address.tls ? { tls: true as const, ...(isIP(host) === 0 && { servername: host }), ...address.tls } : {};
  const client = createClient({
    RESP: 2,
    socket: { host, port, connectTimeout: withinMs, reconnectStrategy: false, ...tls },
    ...(password !== undefined && { password }),
    ...(username !== undefined && { username }),
    ...(database && { database }),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
  });
  client.on("error", () => {}); // whoever waits for an answer hears of it
  const said = (error: unknown): Error => {
    if (error instanceof HoldfastError || error instanceof LostAnswer) return error;
    const code = errorCode(error);
    if (code !== undefined && UNTRUSTED.test(code))
      return new HoldfastError(
        "refused",
        `the server of ${address.shown} is not trusted (${code}): give the certificates to trust with ca=FILE, or check the address`,
        { cause: error },
      );
    if (!(error instanceof ErrorReply))
      return new LostAnswer(code ?? (error instanceof Error ? error.message : String(error)), {
        cause: error,
        nobodyListens: code !== undefined && NOBODY.has(code),
      });
    const refusal = new ServerError(error.message);
    return meaning(refusal, address.shown) ?? refusal;
  };
  const end = () => {
    if (client.isOpen) client.destroy();
  };
  const hanging = setTimeout(end, withinMs);
  try {
    await client.connect();
    client.unref(); // a call that waits keeps the process alive by its timer
  } catch (error) {
    end();
    if (error instanceof ConnectionTimeoutError && address.tls)
      throw new LostAnswer("nobody answers with TLS there: rediss:// takes a port of the server that speaks TLS", {
        ...{ cause: error, nobodyListens: true },
      });
    throw said(error);
  } finally {
    clearTimeout(hanging);
  }
  const asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  return {
    get isOpen() {
      return client.isReady;
    },
    async call(args, { hangMs, bytes = false, aside = false }) {
      const timer = setTimeout(end, hangMs);
      if (aside) timer.unref();
      try {
        return await client.sendCommand(args, bytes ? asBytes : {});
      } catch (error) {
        throw said(error);
      } finally {
        clearTimeout(timer);
      }
    },
    close: end,
  };
}
