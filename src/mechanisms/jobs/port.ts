// The port of supervised jobs, as the tools see them.

/** `starting`: it is decided on, and has not begun. */
type JobStatus = "starting" | "running" | "completed" | "failed" | "killed" | "timeout" | "unknown";

/** What the intent of a command holds: enough for another process to find the same run. */
export interface JobPlan {
  jobId: string;
  dir: string;
  /** Which boot of which machine planned it: elsewhere nothing can be told about it. */
  boot: string;
  /** Which one, and which container of it; older versions did not record it. */
  machine?: string;
}

export interface JobSpec {
  context: string;
  agent: string;
  callId: string;
  command: string;
  cwd: string;
  /** The tree that the agent works in; default: the project's own. */
  root?: string;
  /** Started to stay in the background: nobody waits for it. */
  background: boolean;
  /** What the gates let it do besides. */
  grants?: { network?: boolean; git?: boolean; outside?: { path: string; isOpen: boolean }[]; paths?: string[] };
}

export interface JobEnd {
  status: Exclude<JobStatus, "starting" | "running">;
  /** `remade`: it was killed because it made again and again what commands may not make. */
  because?: "remade";
  /** It was killed with the lease of its agent: it had network and the lease ran out, or its host was told to end. How far it came nobody knows. */
  lostLease?: true;
  /** It failed, and something in it asked for another machine while its sandbox has no network. */
  lackedNetwork?: true;
  exitCode?: number;
  durationMs: number;
}

export interface Job {
  readonly jobId: string;
  /** Contract: `waiting` when it still runs after `waitMs`; throws when it could not be started after all. */
  wait(opts: {
    waitMs: number;
    signal: AbortSignal;
    onOutput?: (text: string) => void;
  }): Promise<"ended" | "waiting" | "aborted">;
  /** Contract: resolves when the whole process group is gone. `lostLease`: its end says so. */
  kill(how?: { lostLease?: boolean }): Promise<void>;
  /** Its host goes, in order, and lets it run on: whoever adopts it knows that. */
  leave(): void;
  wasLeft(): boolean;
  /** Undefined while it runs. */
  end(): JobEnd | undefined;
  /** What it printed so far, stdout and stderr as they came; and in words what of that was not kept. */
  output(): { text: string; missing?: string };
  /** What it made and may not, and where that is kept. */
  taken(): { dir: string; names: string[] } | undefined;
  /** Of what it was told to read outside, what it could not see. */
  hidden(): string[];
  /** The directory the command ended in, by its path now: the tree may have been moved since. */
  movedTo(): string | undefined;
  remove(): void;
}

export interface JobListing extends Partial<Omit<JobEnd, "status">> {
  jobId: string;
  context: string;
  agent: string;
  command: string;
  cwd: string;
  startedAt: number;
  status: JobStatus;
}

type Adopted =
  /** It started, whatever became of it. */
  | { kind: "job"; job: Job }
  /** It never will: it may be started anew. */
  | { kind: "unstarted" }
  /** Its directory is gone. */
  | { kind: "gone" }
  /** Another boot or machine planned it, or it is another context's: nothing is known. */
  | { kind: "elsewhere" };

export interface JobRunner {
  /**
   * Contract: nothing runs. The job's directory is there before its intent is durable: one that is missing later was taken away, and
   * tells nothing of whether the command ran.
   */
  plan(spec: JobSpec): JobPlan;
  /** Contract: throws when the process cannot be started. */
  start(plan: JobPlan, spec: JobSpec): Promise<Job>;
  /** Contract: called once the process that planned the job is dead; `root` is where its tree is now. */
  adopt(plan: JobPlan, of: Pick<JobSpec, "context" | "agent" | "callId" | "root">): Promise<Adopted>;
  /** What was planned and will not be started. */
  discard(plan: JobPlan): void;
  /** Contract: undefined when there is no such job in that context. */
  find(context: string, jobId: string): Job | undefined;
  list(context: string): JobListing[];
}
