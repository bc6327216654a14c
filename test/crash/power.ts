// Power loss: the write log of a run, and the files as a disk could hold them at any point of it.
// The model: a sync makes the data of its file durable, and every name up to it; what was written since may be there or not,
// sector by sector.
import fs from "node:fs";
import path from "node:path";

type Op =
  | { kind: "create" | "sync" | "unlink"; path: string }
  | { kind: "write"; path: string; at: number | undefined; data: Buffer }
  | { kind: "truncate"; path: string; size: number }
  | { kind: "link" | "rename"; path: string; to: string };

interface Step {
  op: Op;
  inode: number;
}

export interface Recording {
  steps: Step[];
  /** Where in `steps` a sync of the write-ahead log had returned. */
  commits: number[];
  /** Where each request to the model went out: whatever it says was acknowledged by then. */
  asks: number[];
}

export type Mode = "dropped" | "kept" | "torn";

const SECTOR = 512;
const TRACED = "openat,pwrite64,write,writev,sendto,ftruncate,fsync,fdatasync,rename,link,unlink";

export const recordTo = (log: string): string[] => [
  ...["strace", "-qq", "-y", "-xx", "-s", "100000000", "-o", log, "-e", `trace=${TRACED}`],
];

const ASK = `"${[..."POST /"].map((c) => `\\x${c.charCodeAt(0).toString(16)}`).join("")}`;
const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll("\\x", ""), "hex");
const text = (hex: string): string => bytes(hex).toString("utf8");
const FD = String.raw`\d+<((?:\\x..)+)>`;
const STR = String.raw`"((?:\\x..)*)"`;
const OPENED = new RegExp(`^openat\\(.* = ${FD.replace(String.raw`\d+`, String.raw`(\d+)`)}`);
const SHAPES: [RegExp, (m: string[]) => Op][] = [
  [
    new RegExp(`^pwrite64\\(${FD}, ${STR}, \\d+, (\\d+)\\) += \\d`),
    ([, file, data, at]) => ({ kind: "write", path: text(file!), at: Number(at), data: bytes(data!) }),
  ],
  [
    new RegExp(`^write\\(${FD}, ${STR}, \\d+\\) += \\d`),
    ([, file, data]) => ({ kind: "write", path: text(file!), at: undefined, data: bytes(data!) }),
  ],
  [new RegExp(`^f(?:data)?sync\\(${FD}\\) += 0`), ([, file]) => ({ kind: "sync", path: text(file!) })],
  [
    new RegExp(`^ftruncate\\(${FD}, (\\d+)\\) += 0`),
    ([, file, size]) => ({ kind: "truncate", path: text(file!), size: Number(size) }),
  ],
  [new RegExp(`^openat\\(.*, ${STR}, \\S*O_CREAT.*= \\d`), ([, file]) => ({ kind: "create", path: text(file!) })],
  [
    new RegExp(`^(rename|link)\\(${STR}, ${STR}\\) += 0`),
    ([, kind, from, to]) => ({ kind: kind as "rename" | "link", path: text(from!), to: text(to!) }),
  ],
  [new RegExp(`^unlink\\(${STR}\\) += 0`), ([, file]) => ({ kind: "unlink", path: text(file!) })],
];

/** What a run did to a folder that held nothing it changes. The shared-memory index is not read after a reboot. */
export function readRecording(log: string, folder: string): Recording {
  const steps: Step[] = [];
  const commits: number[] = [];
  const asks: number[] = [];
  const names = new Map<string, number>();
  const opened = new Map<string, string>();
  let inodes = 0;
  for (const line of fs.readFileSync(log, "latin1").split("\n")) {
    if (line.includes(ASK)) asks.push(steps.length);
    const [, fd, held] = OPENED.exec(line) ?? [];
    const op = named(parse(line), opened);
    if (fd !== undefined) opened.set(fd, text(held!));
    const inside = op && (op.path === folder || op.path.startsWith(`${folder}/`)) && !op.path.endsWith("-shm");
    if (!inside) continue;
    if (op.kind === "create" && names.has(op.path)) continue;
    if (op.kind === "create") names.set(op.path, ++inodes);
    const inode = names.get(op.path) ?? 0;
    if (op.kind === "link" || op.kind === "rename") names.set(op.to, inode);
    if (op.kind === "unlink" || op.kind === "rename") names.delete(op.path);
    steps.push({ op, inode });
    if (op.kind === "sync" && op.path.endsWith("-wal")) commits.push(steps.length);
  }
  return { steps, commits, asks };
}

/** A name in a folder that is held open, as the path it was. */
function named(op: Op | undefined, opened: Map<string, string>): Op | undefined {
  const real = (name: string) =>
    name.replace(/^\/proc\/self\/fd\/(\d+)(?=\/)/, (as, fd: string) => opened.get(fd) ?? as);
  if (!op) return undefined;
  return "to" in op ? { ...op, path: real(op.path), to: real(op.to) } : { ...op, path: real(op.path) };
}

function parse(line: string): Op | undefined {
  for (const [shape, make] of SHAPES) {
    const match = shape.exec(line);
    if (match) return make([...match]);
  }
  return undefined;
}

/** Writes the files into `target` as they could be found when the power went before step `upTo`. */
export function materialize(
  recording: Recording,
  opts: { upTo: number; mode: Mode; rnd: () => number; folder: string; target: string },
): void {
  const { upTo, mode, rnd, folder, target } = opts;
  const steps = recording.steps.slice(0, upTo);
  const lastSync = steps.findLastIndex((s) => s.op.kind === "sync") + 1;
  const namesUpTo = { dropped: lastSync, kept: upTo, torn: lastSync + Math.floor(rnd() * (upTo - lastSync + 1)) }[mode];
  const names = new Map<string, number>();
  for (const { op, inode } of steps.slice(0, namesUpTo)) {
    if (op.kind === "create") names.set(op.path, inode);
    if (op.kind === "rename" && !names.has(op.path)) renameFolder(names, op.path, op.to);
    else if (op.kind === "link" || op.kind === "rename") names.set(op.to, inode);
    if (op.kind === "unlink" || op.kind === "rename") names.delete(op.path);
  }
  for (const [name, inode] of names) {
    const own = steps.filter((s) => s.inode === inode);
    const durable = own.findLastIndex((s) => s.op.kind === "sync");
    const file = path.join(target, path.relative(folder, name));
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, contentOf(own, { durable, mode, rnd }), { mode: 0o600 });
  }
}

/** Nothing but its files is recorded of a folder. */
function renameFolder(names: Map<string, number>, from: string, to: string): void {
  for (const [name, inode] of [...names]) {
    if (!name.startsWith(`${from}/`)) continue;
    names.delete(name);
    names.set(to + name.slice(from.length), inode);
  }
}

function contentOf(own: Step[], how: { durable: number; mode: Mode; rnd: () => number }): Buffer {
  let content = Buffer.alloc(0);
  let length = 0; // as the program saw it: where a write without an offset goes
  const put = (at: number, data: Buffer) => {
    if (at + data.length > content.length) {
      content = Buffer.concat([content, Buffer.alloc(at + data.length - content.length)]);
    }
    data.copy(content, at);
  };
  own.forEach(({ op }, i) => {
    const sure = i <= how.durable || how.mode === "kept";
    const survives = () => sure || (how.mode === "torn" && how.rnd() < 0.5);
    if (op.kind === "truncate") {
      length = op.size;
      if (!survives()) return;
      content = Buffer.concat([content.subarray(0, op.size), Buffer.alloc(Math.max(0, op.size - content.length))]);
    }
    if (op.kind !== "write") return;
    const at = op.at ?? length;
    length = Math.max(length, at + op.data.length);
    if (sure) put(at, op.data);
    for (let from = sure ? Number.POSITIVE_INFINITY : at; from < at + op.data.length; ) {
      const to = Math.min((Math.floor(from / SECTOR) + 1) * SECTOR, at + op.data.length);
      if (survives()) put(from, op.data.subarray(from - at, to - at));
      from = to;
    }
  });
  return content;
}
