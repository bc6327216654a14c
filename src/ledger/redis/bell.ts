// The bell of a Redis store: a capped stream in which every append counts one on, read by a connection that waits.
import type { BellSource } from "../networked/tail.ts";
import type { Rung } from "../watchers.ts";
import type { RedisConnection } from "./connection.ts";
import type { RedisLink } from "./link.ts";
import { listLedgers } from "./reading.ts";

/** Short: a connection that died without a word is found out only when this is over. */
const WAIT_MS = 2_000;
const MOST = 1_000;
/** After so many waits in which nothing rang it is asked whether the bell counts on: a server that was emptied counts from the beginning. */
const QUIET = 2;

export interface RedisBell extends BellSource {
  /** What rang up to here is no news any more: our own append was answered. */
  heard(stroke: number): void;
  close(): void;
}

export function createRedisBell(link: RedisLink, opts: { stroke: number; hangMs: number }): RedisBell {
  const at = `${link.prefix}bell`;
  let last = opts.stroke;
  /** Once it is listened to, only what is heard moves it on. */
  let isListening = false;
  let connection: RedisConnection | undefined;
  let wasConnected = false;
  let closed = false;
  let quiet = 0;

  return {
    heard(stroke) {
      if (!isListening) last = Math.max(last, stroke);
    },
    async next() {
      isListening = true;
      let gap = false;
      if (!connection?.isOpen) {
        connection = await link.another(opts.hangMs);
        if (closed) connection.close();
        // Another server may answer now, with other strokes under the same numbers.
        gap = wasConnected;
        wasConnected = true;
        if (gap) last = await lastStroke(connection, link, opts.hangMs);
      }
      const ask = ["XREAD", "COUNT", String(MOST), "BLOCK", String(gap ? 1 : WAIT_MS), "STREAMS", at, `${last}-0`];
      const answer = await listen(connection, ask, WAIT_MS + opts.hangMs);
      const entries: unknown = Array.isArray(answer) && Array.isArray(answer[0]) ? answer[0][1] : [];
      const rung: Rung[] = [];
      for (const entry of Array.isArray(entries) ? entries : []) {
        const [id, fields] = entry;
        const stroke = Number.parseInt(String(id), 10);
        gap ||= stroke !== last + 1;
        last = stroke;
        rung.push({ ledger: String(fields[1]), seq: Number(fields[3]) });
      }
      quiet = rung.length > 0 ? 0 : quiet + 1;
      if (quiet < QUIET) return { rung, gap };
      quiet = 0;
      const stroke = await lastStroke(connection, link, opts.hangMs);
      if (stroke >= last) return { rung, gap };
      last = stroke;
      return { rung, gap: true };
    },
    async *heads() {
      for await (const { ledger, head } of listLedgers(link)) yield { ledger, seq: head };
    },
    close() {
      closed = true;
      connection?.close();
    },
  };
}

async function listen(on: RedisConnection, ask: string[], hangMs: number): Promise<unknown> {
  try {
    return await on.call(ask, { hangMs, aside: true });
  } catch (error) {
    on.close(); // it may be no master any more: the next connection asks who is
    throw error;
  }
}

async function lastStroke(on: RedisConnection, link: RedisLink, hangMs: number): Promise<number> {
  return Number((await on.call(["HGET", `${link.prefix}store`, "bell"], { hangMs, aside: true })) ?? 0);
}
