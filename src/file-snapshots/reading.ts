// What a look has yet to read: a few files here, many of them by a second thread as well, while the walk goes on.
import os from "node:os";
import { Worker } from "node:worker_threads";
import { joined, type RawPath } from "./names.ts";
import type { Oid } from "./pack.ts";
import { AT, NUMBERS, OUTCOME, type ReadChunk, type ReadJob, thisReader } from "./reader.ts";
import { type FileNode, isRacy, sameSince, type Unread } from "./scan.ts";

/** So few files are taken one by one. */
const FEW = 128;
/** A thread costs as much as reading so many files. */
const WORTH_A_THREAD = 1_500;
/** So many files go to the thread at once, and so many of these it has before it: enough for the longest slice of this one. */
const JOB_FILES = 128;
const JOBS_AHEAD = 8;

export interface ReadingOptions {
  root: RawPath;
  max: number;
  /** Whether many files are given with their bytes. */
  keep: boolean;
  /** Takes the content of few files. */
  each?: (content: Buffer, oid: Oid) => void;
  /** Takes what was read, by folder. The bytes are in `chunk.entries`, if they were wanted. */
  take(files: Part[], chunk: ReadChunk): void;
  /** Room for bytes that is not needed any more. */
  spare?: () => ArrayBuffer | undefined;
  left(path: RawPath, why: string): void;
}

/** Some of the files of a folder. */
interface Part {
  of: Unread;
  from: number;
  to: number;
}

interface Job extends ReadJob {
  parts: Part[];
  done: number;
}

export interface Reading {
  /** The files of one folder. Contract: they are read at the latest in `step`. */
  add(unread: Unread): void;
  /** How many wait. */
  readonly size: number;
  /** Reads some here, or waits for the thread. */
  step(): Promise<void>;
  /** What was not read is not known. Contract: called at the end, whatever the end is. */
  stop(): void;
}

export function openReading(opts: ReadingOptions): Reading {
  const queue: Job[] = [];
  let filling: Job | undefined;
  let waiting = 0;
  let thread: ReturnType<typeof startThread>;
  let wasStarted = false;
  const away: Job[] = [];
  let failure: unknown;
  let few: boolean | undefined;
  let wake = () => {};

  function accept(job: Job, chunk: ReadChunk): void {
    const read = cut(job.parts, chunk.count);
    let i = 0;
    for (const { of, from, to } of read)
      for (const name of of.names.slice(from, to)) {
        const node = nodeOf(chunk, i);
        const why = node ? undefined : reasonOf(chunk, i, opts.max);
        i++;
        if (node) {
          if (of.forced.has(name)) node.forced = true;
          of.children.set(name, Object.assign(node, sameSince(node, of.before.get(name))));
          continue;
        }
        of.children.delete(name);
        if (why) opts.left(joined(of.path, name), why);
      }
    job.done += chunk.count;
    waiting -= chunk.count;
    opts.take(read, chunk);
  }

  function feed(): void {
    while (thread && away.length < JOBS_AHEAD) {
      const job = queue.shift();
      if (!job) return;
      away.push(job);
      const { folders, names, max, keep } = job;
      thread.send({ folders, names, max, keep, room: keep ? opts.spare?.() : undefined });
    }
  }

  function start(): void {
    wasStarted = true;
    thread = startThread(
      (chunk) => {
        const [job] = away;
        if (!job) return;
        try {
          accept(job, chunk);
        } catch (error) {
          failure ??= error;
        }
        if (job.done === job.names.length) away.shift();
        feed();
        wake();
      },
      () => {
        // It died: what it had is read here.
        queue.unshift(...away.splice(0));
        thread = undefined;
        wake();
      },
    );
    feed();
  }

  return {
    add(unread) {
      const full = unread.path === "" ? opts.root : `${opts.root}/${unread.path}`;
      for (let i = 0; i < unread.names.length; ) {
        filling ??= { folders: [], names: [], parts: [], done: 0, max: opts.max, keep: opts.keep };
        const some = unread.names.slice(i, i + JOB_FILES - filling.names.length);
        filling.folders.push({ full, count: some.length });
        filling.parts.push({ of: unread, from: i, to: i + some.length });
        for (const name of some) filling.names.push(name);
        i += some.length;
        waiting += some.length;
        if (filling.names.length < JOB_FILES) return;
        queue.push(filling);
        filling = undefined;
        if (!wasStarted && waiting >= WORTH_A_THREAD) start();
        else feed();
      }
    },
    get size() {
      return waiting;
    },
    async step() {
      if (failure) throw failure;
      few ??= waiting <= FEW;
      if (filling) queue.push(filling);
      filling = undefined;
      // From the end, so that the thread has the jobs it was promised.
      const job = queue.at(-1);
      if (job) {
        if (job.keep && !few) job.room = opts.spare?.();
        accept(job, thisReader().read(job, job.done, few ? opts.each : undefined));
        job.room = undefined;
        if (job.done === job.names.length) queue.pop();
      } else if (away.length > 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = () => {};
      }
      if (failure) throw failure;
    },
    stop() {
      thread?.stop();
      thread = undefined;
      for (const job of [...away.splice(0), ...queue.splice(0), ...(filling ? [filling] : [])])
        for (const { of, from, to } of job.parts)
          for (const name of of.names.slice(from, to)) {
            of.children.delete(name);
            const old = of.before.get(name);
            if (old) of.dir.rest = new Map([...(of.dir.rest ?? []), [name, old]]);
          }
      filling = undefined;
      waiting = 0;
    },
  };
}

/** Contract: takes the first `count` files out of `parts`. */
function cut(parts: Part[], count: number): Part[] {
  const taken: Part[] = [];
  for (let left = count; left > 0; ) {
    const [part] = parts;
    if (!part) break;
    const to = Math.min(part.to, part.from + left);
    taken.push({ of: part.of, from: part.from, to });
    left -= to - part.from;
    if (to === part.to) parts.shift();
    else part.from = to;
  }
  return taken;
}

function nodeOf({ numbers, oids, at }: ReadChunk, i: number): FileNode | undefined {
  const n = i * NUMBERS;
  if (numbers[n + AT.outcome] !== OUTCOME.read) return undefined;
  const mtimeMs = numbers[n + AT.mtimeMs]!;
  const ctimeMs = numbers[n + AT.ctimeMs]!;
  return {
    kind: "file",
    mode: numbers[n + AT.mode]!,
    size: numbers[n + AT.size]!,
    mtimeMs,
    ctimeMs,
    ino: numbers[n + AT.ino]!,
    oid: oids.slice(i * 40, i * 40 + 40),
    racy: isRacy(mtimeMs, ctimeMs, at),
  };
}

/** Why a file of the chunk was not read; undefined: it is gone. */
function reasonOf({ numbers }: ReadChunk, i: number, max: number): string | undefined {
  const outcome = numbers[i * NUMBERS + AT.outcome];
  if (outcome === OUTCOME.gone) return undefined;
  if (outcome === OUTCOME.odd) return "not a regular file";
  if (outcome === OUTCOME.big) return `over ${Math.round(max / 1e5) / 10} MB`;
  return "cannot be read";
}

/** Contract: chunks come in the order of the jobs. `died` is told at most once, and never after `stop`. */
function startThread(each: (chunk: ReadChunk) => void, died: () => void) {
  if (os.availableParallelism() < 2) return undefined;
  // The build makes one file of it, and puts the name of that here (scripts/build.mjs).
  const file = new URL("./reader-main.ts", import.meta.url);
  const worker = new Worker(file, { execArgv: [], env: {}, stdout: false, stderr: false });
  let ended = false;
  const end = () => {
    if (!ended) died();
    ended = true;
  };
  worker.on("message", (chunk: ReadChunk) => {
    if (!ended) each(chunk);
  });
  worker.on("error", end);
  worker.on("exit", end);
  return {
    send: (job: ReadJob) => worker.postMessage(job, job.room ? [job.room] : []),
    stop: () => {
      ended = true;
      void worker.terminate();
    },
  };
}
