// The pages of a database file and its WAL as bytes: every version of every page that is still there.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { PAGE_SIZE } from "./sqlite/schema.ts";

const WAL_HEADER = 32;
const FRAME_HEADER = 24;
const FRAME = FRAME_HEADER + PAGE_SIZE;

export interface Pages {
  /** Every page image: first the file's own, then the frames of the WAL in order. */
  each(visit: (page: Buffer, where: PagePlace) => void): void;
  read(where: PagePlace): Buffer;
  /** Newest first. */
  versions(pgno: number): PagePlace[];
  close(): void;
}

export interface PagePlace {
  wal: boolean;
  offset: number;
}

export function openPages(file: string): Pages {
  const main = openSource(file);
  const wal = openSource(`${file}-wal`);
  const frames = new Map<number, PagePlace[]>();
  const head = Buffer.alloc(FRAME_HEADER);
  for (let at = WAL_HEADER; at + FRAME_HEADER < wal.size; at += FRAME) {
    wal.read(head, at);
    const pgno = head.readUInt32BE(0);
    const list = frames.get(pgno);
    const where = { wal: true, offset: at + FRAME_HEADER };
    if (list) list.unshift(where);
    else frames.set(pgno, [where]);
  }
  const read = ({ wal: inWal, offset }: PagePlace): Buffer => {
    const source = inWal ? wal : main;
    const page = Buffer.alloc(Math.max(0, Math.min(PAGE_SIZE, source.size - offset)));
    source.read(page, offset);
    return page;
  };
  return {
    each(visit) {
      for (let offset = 0; offset < main.size; offset += PAGE_SIZE)
        visit(read({ wal: false, offset }), { wal: false, offset });
      for (let at = WAL_HEADER; at + FRAME_HEADER < wal.size; at += FRAME) {
        const where = { wal: true, offset: at + FRAME_HEADER };
        visit(read(where), where);
      }
    },
    read,
    versions(pgno) {
      const offset = (pgno - 1) * PAGE_SIZE;
      const own = pgno > 0 && offset < main.size ? [{ wal: false, offset }] : [];
      return [...(frames.get(pgno) ?? []), ...own];
    },
    close() {
      main.close();
      wal.close();
    },
  };
}

function openSource(path: string) {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return { size: 0, read: () => {}, close: () => {} };
  }
  return {
    size: fstatSync(fd).size,
    read: (into: Buffer, at: number) => void readSync(fd, into, 0, into.length, at),
    close: () => closeSync(fd),
  };
}
