// The supervisor: a shell between the harness and its commands, which outlives the harness.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, lstatSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { shellLine, shellText } from "../../file-access/shell-file.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import { commandEnvironment } from "./environment.ts";
import { markOffline, shellEnd, shellIsGone } from "./job-dir.ts";
import { recordAbsent, spare } from "./left-behind.ts";
import { leadsAsBefore } from "./linked.ts";
import { KEPT_BYTES } from "./output.ts";
import { childrenOf, pidNamespace, unreachedFrom } from "./process.ts";
import { type Enclosure, JOBS_SEEN } from "./sandbox.ts";
import { jobMessage, readSupervisorMessage } from "./supervisor-messages.ts";

/** What must not be there and is made in the background this often ends whatever runs there. */
const MOST_REMADE = 3;

export interface SupervisorOptions {
  hardLimitMs: number;
  outputBytes: number;
  env?: Record<string, string>;
  /** What every command is shut in; default: nothing. */
  enclosure?: Enclosure;
}

export interface Supervised {
  /** Its exit code when its shell is gone and said so, or its supervisor said so; undefined when that said no more than that it is over, or died: look for yourself. */
  ended: Promise<number | undefined>;
  /** Nothing of it is left, and nobody writes into its directory any more. It may have `ended` a moment before. */
  over: Promise<void>;
  /** Why its shell could not be started, once that is known: then it never will be. */
  problem?: string;
}

export interface Supervisor {
  /**
   * Contract: throws when no process could be started; nothing runs then. When it resolves the job is in a worker's pipe, where it does
   * not need this process any more: only then may anyone be told that it was started.
   */
  start(name: string, cwd: string): Promise<Supervised>;
  /** Starts the shell ahead of need. It holds nothing and ends with this process. */
  prepare(): void;
  /** Whether a job runs, or waits for a worker. */
  readonly busy: boolean;
  /** What somebody else is about to make is not taken for the work of these commands: which of what must not be there that is. */
  spare(paths: string[]): string[];
  /** No more jobs: it ends when those that run have ended. */
  close(): void;
}

interface Shell {
  child: ChildProcess;
  /** The supervisor itself, where a sandbox is around it. */
  inside?: number;
  /** What `unreachedFrom` said when nothing ran; nothing yet in a network that is new. */
  unreached?: number;
  /** Part of the names of its files. */
  tag: string;
  /** By each worker: open as long as its command's shell is there. */
  ends: Map<string, Socket>;
  /** Workers that wait for a job, the longest waiting first. */
  free: string[];
  /** The pipe of each worker. */
  pipes: Map<string, number>;
  /** Jobs for which no worker was free. */
  queue: Waiting[];
  /** Jobs handed over. */
  running: Map<string, Waiting>;
}

interface Waiting {
  name: string;
  cwd: string;
  worker?: string;
  /** What `unreachedFrom` said before it began; none when others run beside it. */
  unreached?: number;
  supervised: Supervised;
  handed: () => void;
  resolve: (code: number | undefined) => void;
  over: () => void;
}

let opened = 0;

/** Contract: `dir` holds the directories of all jobs. */
export function createSupervisor(dir: string, limits: SupervisorOptions): Supervisor {
  let shell: Shell | undefined;

  /** The supervisor itself is in the sandbox: only it sees these there. */
  const seen = (): string[] => {
    const taken = join(dir, "..", "taken");
    makeDir(taken);
    return ["--bind", dir, `${JOBS_SEEN}/jobs`, "--bind", taken, `${JOBS_SEEN}/taken`, "--"];
  };

  const open = (): Shell => {
    makeDir(dir);
    const kept = Math.min(KEPT_BYTES, limits.outputBytes >> 2);
    const { outer, wrap, absent, links } = limits.enclosure ?? { outer: [], wrap: [], absent: [], links: [] };
    // A sandbox takes longer to start than a command; two are kept ready. In it the directory of the jobs is seen through descriptor 9 alone.
    const enclosed = wrap.length > 0;
    const [stock, inner, base] = enclosed ? [2, "/proc/self/fd/9", `${JOBS_SEEN}/jobs`] : [1, dir, dir];
    const numbers = [Math.max(1, Math.ceil(limits.hardLimitMs / 1000)), limits.outputBytes, kept, stock, MOST_REMADE];
    const tag = `${pidNamespace()}.${process.pid}-${++opened}`;
    const program = shellText(import.meta.url, "./supervisor.sh");
    const commandProgram = shellLine(import.meta.url, "./command.sh");
    const command = [...outer, ...(enclosed ? seen() : []), "/bin/bash", "--norc", "-c", program, "holdfast-jobs"];
    const args = [...numbers.map(String), base, inner, commandProgram, tag, `${absent.length}`, ...absent];
    const putBack = links.flatMap(({ path, to, real }) => [path, to, real]);
    recordAbsent(dir, tag, absent);
    const errors = join(dir, `.err${tag}.0`);
    const stderr = openSync(errors, "w", 0o600);
    const child = spawn(command[0]!, [...command.slice(1), ...args, `${putBack.length}`, ...putBack, ...wrap], {
      cwd: "/",
      env: limits.env ?? commandEnvironment(process.env),
      detached: true,
      stdio: ["pipe", "pipe", stderr],
    });
    closeSync(stderr);
    const mine = shellOf(child, tag);
    // A job in the background does not keep this process; whoever waits for one does.
    child.unref();
    for (const stream of [child.stdin, child.stdout]) {
      stream?.on("error", () => {}); // it died: its exit says so
      if (stream instanceof Socket) stream.unref();
    }
    let heard = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (heard + text).split("\n");
      heard = lines.pop() ?? "";
      for (const line of lines) hear(mine, line);
    });
    child.once("exit", (code) => {
      if (shell === mine) shell = undefined;
      const problem = code
        ? (fileText(errors) ?? `the supervisor of commands ended with exit code ${code}`)
        : undefined;
      rmSync(errors, { force: true });
      for (const ends of mine.ends.values()) ends.destroy();
      child.stdout?.removeAllListeners("data").resume(); // workers may outlive it: nobody is left to listen
      for (const pipe of mine.pipes.values()) closeSync(pipe);
      mine.pipes.clear();
      for (const job of [...mine.queue, ...mine.running.values()]) {
        job.supervised.problem = problem;
        job.resolve(undefined);
        job.over();
        job.handed();
      }
    });
    return mine;
  };

  /**
   * Who waits for a command need not wait until all the processes around it have ended one after the other: its shell alone holds this
   * pipe open. It may close it itself: believed is what the system says of it then.
   */
  const hearEnds = (mine: Shell, worker: string) => {
    const fd = openPipe(join(dir, `.end${mine.tag}.${worker}`), constants.O_RDONLY | constants.O_NONBLOCK);
    if (fd === undefined) return;
    const ends = new Socket({ fd, readable: true, writable: false });
    mine.ends.set(worker, ends);
    ends.on("error", () => {}).unref();
    ends.on("end", () => {
      shellEnded(mine, worker);
      if (mine.pipes.has(worker)) hearEnds(mine, worker); // of the next one
    });
    ends.resume();
  };

  /** Not told of a shell that could not write its last word, or set a trap of its own; and what must not be there is taken away first. */
  const shellEnded = (mine: Shell, worker: string) => {
    for (const job of mine.running.values()) {
      const attempt = join(dir, job.name);
      const { code } = job.worker === worker ? shellEnd(attempt) : {};
      if (code === undefined || !shellIsGone(attempt, limits.enclosure !== undefined)) continue;
      const { absent = [], links = [] } = limits.enclosure ?? {};
      if (absent.some((path) => lstatSync(path, { throwIfNoEntry: false }))) continue;
      if (!links.every(leadsAsBefore)) continue;
      noteOffline(mine, job, code);
      job.resolve(code);
    }
  };

  const unreached = (mine: Shell): number | undefined => {
    if (limits.enclosure === undefined || limits.enclosure.network) return undefined;
    mine.inside ??= childrenOf(mine.child.pid ?? 0)[0];
    return mine.inside === undefined ? undefined : unreachedFrom(mine.inside);
  };

  const countUnreached = (mine: Shell): number | undefined => {
    mine.unreached ??= unreached(mine);
    return mine.unreached;
  };

  /** A command that failed, and asked for another machine where it had no network, is told so. */
  const noteOffline = (mine: Shell, { name, unreached: before }: Waiting, code: number | undefined) => {
    if (!code || before === undefined) return;
    const now = unreached(mine);
    if (now !== undefined && now > before) markOffline(join(dir, name));
  };

  const hear = (mine: Shell, line: string) => {
    const message = readSupervisorMessage(line);
    if (message?.kind === "ready") {
      const { worker } = message;
      const pipe = openPipe(join(dir, `.go${mine.tag}.${worker}`));
      if (pipe === undefined) return; // somebody removed the directory
      mine.pipes.set(worker, pipe);
      hearEnds(mine, worker);
      mine.free.push(worker);
    } else if (message?.kind === "failed") {
      const { worker } = message;
      for (const job of mine.running.values()) {
        if (job.worker !== worker) continue;
        job.supervised.problem = fileText(join(dir, `.err${mine.tag}.${worker}`)) ?? "its shell ended at once";
        end(mine, job.name, undefined);
        mine.free.push(worker);
      }
    } else if (message?.kind === "ended") {
      const worker = end(mine, message.job, message.code);
      if (message.freeWorker !== undefined) mine.free.push(message.freeWorker);
      else if (worker !== undefined) {
        closeSync(mine.pipes.get(worker)!);
        mine.pipes.delete(worker);
        mine.ends.get(worker)?.destroy();
        mine.ends.delete(worker);
      }
    }
    const job = mine.free.length > 0 && mine.queue.shift();
    if (job) hand(mine, job);
  };

  const end = (mine: Shell, name: string, code: number | undefined): string | undefined => {
    const job = mine.running.get(name);
    if (job) noteOffline(mine, job, code);
    job?.resolve(code);
    job?.over();
    mine.running.delete(name);
    mine.unreached = undefined;
    // Between commands, when there is time for it.
    if (mine.running.size === 0) setImmediate(() => mine.running.size === 0 && countUnreached(mine));
    return job?.worker;
  };

  const hand = (mine: Shell, job: Waiting) => {
    const worker = mine.free.shift();
    if (worker === undefined) return void mine.queue.push(job);
    for (const other of mine.running.values()) other.unreached = undefined;
    const given: Waiting = { ...job, worker };
    const isAlone = mine.running.size === 0;
    mine.running.set(job.name, given);
    writeSync(mine.pipes.get(worker)!, jobMessage(job.name, job.cwd));
    if (isAlone) given.unreached = countUnreached(mine); // its shell takes longer to begin
    job.handed();
  };

  return {
    prepare() {
      if (shell) return;
      const mine = open();
      mine.child.on("error", () => {}); // no process to spare: the first command tries again and says so
      if (mine.child.pid !== undefined) shell = mine;
    },
    get busy() {
      return shell !== undefined && shell.queue.length + shell.running.size > 0;
    },
    spare(paths) {
      const { absent = [] } = limits.enclosure ?? {};
      const made = absent.filter((one) => paths.some((path) => isInside(one, path)));
      if (shell && made.length > 0) spare(dir, shell.tag, made);
      return made;
    },
    close() {
      shell?.child.stdin?.end();
    },
    async start(name, cwd) {
      if (cwd.includes("\n")) {
        throw new HoldfastError("invalid", "commands cannot run in a directory whose name has a line break");
      }
      statSync(cwd);
      shell ??= open();
      const mine = shell;
      if (mine.child.pid === undefined) {
        shell = undefined;
        await new Promise((_, reject) => mine.child.once("error", reject));
      }
      const supervised = {} as Supervised;
      const handed = new Promise<void>((handed) => {
        supervised.over = new Promise((over) => {
          supervised.ended = new Promise((resolve) => hand(mine, { name, cwd, supervised, handed, resolve, over }));
        });
      });
      await stayFor(handed);
      return supervised;
    },
  };
}

const shellOf = (child: ChildProcess, tag: string): Shell => ({
  child,
  tag,
  unreached: 0,
  ends: new Map(),
  free: [],
  pipes: new Map(),
  queue: [],
  running: new Map(),
});

/** Nothing of the supervisor keeps this process: whoever waits for it does. */
export async function stayFor<T>(work: Promise<T>): Promise<T> {
  const staying = setInterval(() => undefined, 1 << 30);
  try {
    return await work;
  } finally {
    clearInterval(staying);
  }
}

function fileText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

function openPipe(path: string, flags: string | number = "r+"): number | undefined {
  try {
    return openSync(path, flags);
  } catch {
    return undefined;
  }
}
