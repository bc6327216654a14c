// The messages between the harness and its supervisor of commands, a line each. The table of all of them is in supervisor.sh.

export type SupervisorMessage =
  /** `ready WORKER`: it takes a job through its pipe. */
  | { kind: "ready"; worker: string }
  /** `ended JOB CODE [WORKER]`: nothing of the job is left; the worker, if named, is free again. Without a code its directory says what became of it. */
  | { kind: "ended"; job: string; code: number | undefined; freeWorker: string | undefined }
  /** `failed WORKER`: its shell could not be started. */
  | { kind: "failed"; worker: string };

/** In place of an exit code. */
const LOOK = "?";

/** Undefined for a line that is none of these. */
export function readSupervisorMessage(line: string): SupervisorMessage | undefined {
  const [kind, name = "", code = LOOK, freeWorker] = line.split(" ");
  if (kind === "ready" || kind === "failed") return { kind, worker: name };
  if (kind !== "ended") return undefined;
  return { kind, job: name, code: code === LOOK ? undefined : Number(code), freeWorker };
}

/** To a worker's shell: the job, and where it runs. */
export const jobMessage = (job: string, cwd: string): string => `${job}\n${cwd}\n`;
