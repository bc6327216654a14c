// The line of writers of several processes: who waits, since when, in a file that each of them reads.
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { monotonicMs } from "../holder.ts";

export interface Queue {
  /** How many others have been waiting since before `since`, and are still there. */
  ahead(since: number): number;
  /** Says that this process has been waiting since then; repeated while it waits. */
  announce(since: number): void;
  withdraw(): void;
  close(): void;
}

const SLOTS = 32;
const SLOT = 16;
/** A waiter that has not announced itself for so long was killed. */
const STALE_MS = 60;

/** The file holds, for each waiter: since when, last announced, pid. Nothing depends on it but waiting times. */
export function openQueue(file: string): Queue {
  const fd = openSync(`${file}.queue`, constants.O_RDWR | constants.O_CREAT, 0o600);
  // Its number may belong to another file once it is closed.
  let closed = false;
  const own = (process.pid % SLOTS) * SLOT;
  const slots = Buffer.alloc(SLOTS * SLOT);
  const slot = Buffer.alloc(SLOT);
  return {
    ahead(since) {
      if (closed) return 0;
      const length = readSync(fd, slots, 0, slots.length, 0);
      let count = 0;
      for (let at = 0, now = 0; at + SLOT <= length; at += SLOT) {
        const pid = slots.readUInt32LE(at + 12);
        if (pid === 0 || at === own) continue;
        now ||= monotonicMs();
        const announced = slots.readUInt32LE(at + 8);
        const other = slots.readDoubleLE(at);
        const earlier = other < since || (other === since && pid < process.pid);
        if (earlier && Math.abs((now >>> 0) - announced) < STALE_MS) count++;
      }
      return count;
    },
    announce(since) {
      if (closed) return;
      slot.writeDoubleLE(since, 0);
      slot.writeUInt32LE(monotonicMs() >>> 0, 8);
      slot.writeUInt32LE(process.pid, 12);
      writeSync(fd, slot, 0, SLOT, own);
    },
    withdraw() {
      if (closed) return;
      slot.fill(0);
      writeSync(fd, slot, 0, SLOT, own);
    },
    close() {
      if (closed) return;
      closed = true;
      closeSync(fd);
    },
  };
}
