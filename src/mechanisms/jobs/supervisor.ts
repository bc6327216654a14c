// Owns the supervisors: small shell processes between the harness and its commands, which outlive the harness.
import { type ChildProcess, spawn } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { commandEnvironment } from "./environment.ts";

/**
 * One shell a harness, out of which every supervisor is forked: forking the harness itself costs more with every megabyte it holds.
 * It reads three lines a job (directory of the job, where to run, what to run at the end) and answers with the job's directory
 * when it has ended. Between jobs it watches those that run (hard limit, bound on output); when the harness is gone it goes
 * on watching until the last one has ended.
 *
 * `set -m` gives each supervisor a process group of its own. A supervisor first creates `started`, exclusively: who loses does
 * nothing. The command runs in its foreground, because a shell makes background commands ignore SIGINT. At the end the whole
 * group is killed, the supervisor included, so that nothing of `cmd &` stays.
 */
const SPAWNER = `set -m
limit=$1 bound=$2 keep=$3 dirs=() pids=() begun=() sizes=() lost=()
supervise() {
set +m -C
trap : TERM
exec </dev/null
pid=\${BASHPID:-$(exec sh -c 'echo $PPID')} s=
{ read -r s </proc/$pid/stat; } 2>/dev/null
{ echo "$pid $s" >"$1/started"; } 2>/dev/null || { echo "$1"; exit 0; }
unset OLDPWD
cd -P "$2" && /bin/bash -c 'IFS= read -rd "" REPLY <"$1/script"; trap "$2" EXIT; shift 2; eval "$REPLY"' bash "$1" "$3" >>"$1/out" 2>&1
{ echo $? >"$1/exit"; } 2>/dev/null
trap '' PIPE
echo "$1"
kill -9 -- -$pid
}
watch() {
quick=1
local i d n z s
for i in "\${!pids[@]}"; do
d=\${dirs[i]} n=$((SECONDS-begun[i]))
if [ -e "$d/exit" ] || ! kill -0 "\${pids[i]}" 2>/dev/null; then
s=
{ read -r s <"$d/exit"; } 2>/dev/null
[ "$s" != timeout ] || kill -9 -- -"\${pids[i]}" 2>/dev/null
unset "dirs[i]" "pids[i]" "begun[i]" "sizes[i]" "lost[i]"
continue
fi
if [ "$n" -ge "$limit" ]; then
(set -C; echo timeout >"$d/exit") 2>/dev/null && kill -TERM -- -"\${pids[i]}"
continue
fi
z=0
[ ! -e "$d/out" ] || z=$(wc -c <"$d/out")
[ "$n" -ge 5 ] && [ $((z-sizes[i])) -lt $((bound/16)) ] || quick=$fast
sizes[i]=$z
[ "$z" -gt "$bound" ] || continue
[ -e "$d/out.head" ] || head -c "$keep" "$d/out" >"$d/out.head"
tail -c "$keep" "$d/out" >"$d/out.tail"
: >"$d/out"
lost[i]=$((lost[i]+z)) sizes[i]=0
echo "\${lost[i]}" >"$d/dropped"
done
}
fast=1 quick=1
[ "\${BASH_VERSINFO[0]}" -lt 4 ] || fast=.2
while :; do
if [ \${#pids[@]} -eq 0 ]; then IFS= read -r d || exit 0
else
IFS= read -r -t $quick d
r=$?
if [ $r -gt 128 ]; then watch; continue; fi
[ $r -eq 0 ] || break
fi
IFS= read -r c && IFS= read -r atexit || break
supervise "$d" "$c" "$atexit" &
dirs+=("$d") pids+=($!) begun+=($SECONDS) sizes+=(0) lost+=(0) quick=$fast
done
while watch; [ \${#pids[@]} -gt 0 ]; do sleep $quick; done`;

/** The shell is started ahead of the first command, while the model thinks. */
const PREPARE_AFTER_MS = 20;

export interface SupervisorLimits {
  hardLimitMs: number;
  outputBytes: number;
}

export interface Supervised {
  /** True when its supervisor said so; false when the shell of all supervisors died: look for yourself. */
  ended: Promise<boolean>;
}

export interface Supervisors {
  /** Contract: throws when no process could be started; nothing runs then. */
  start(dir: string, job: { command: string; cwd: string }): Promise<Supervised>;
  /** Starts the shell ahead of need. It holds nothing and ends with this process. */
  prepare(): void;
}

interface Spawner {
  child: ChildProcess;
  /** Who waits for the end of the job in that directory. */
  waiting: Map<string, (said: boolean) => void>;
}

export function createSupervisors(limits: SupervisorLimits): Supervisors {
  let spawner: Spawner | undefined;
  let preparing: NodeJS.Timeout | undefined;

  const open = (): Spawner => {
    const kept = Math.min(1 << 20, limits.outputBytes >> 2);
    const numbers = [Math.max(1, Math.ceil(limits.hardLimitMs / 1000)), limits.outputBytes, kept];
    const child = spawn("/bin/bash", ["-c", SPAWNER, "holdfast-jobs", ...numbers.map(String)], {
      cwd: "/",
      env: commandEnvironment(process.env),
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const mine: Spawner = { child, waiting: new Map() };
    // A job in the background does not keep this process; whoever waits for one does.
    child.unref();
    for (const stream of [child.stdin, child.stdout]) {
      stream?.on("error", () => {}); // it died: its exit says so
      (stream as Socket | null)?.unref();
    }
    let heard = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (heard + text).split("\n");
      heard = lines.pop()!;
      for (const dir of lines) done(mine, dir, true);
    });
    child.once("exit", () => {
      if (spawner === mine) spawner = undefined;
      for (const dir of [...mine.waiting.keys()]) done(mine, dir, false);
    });
    return mine;
  };

  const done = ({ waiting }: Spawner, dir: string, said: boolean) => {
    waiting.get(dir)?.(said);
    waiting.delete(dir);
  };

  return {
    prepare() {
      if (spawner || preparing) return;
      preparing = setTimeout(() => {
        preparing = undefined;
        if (spawner) return;
        const mine = open();
        mine.child.on("error", () => {}); // no process to spare: the first command tries again and says so
        if (mine.child.pid !== undefined) spawner = mine;
      }, PREPARE_AFTER_MS);
      preparing.unref();
    },
    async start(dir, job) {
      if (`${dir}${job.cwd}`.includes("\n")) {
        throw new HoldfastError("invalid", "commands cannot run in a directory whose name has a line break");
      }
      statSync(job.cwd);
      writeFileSync(join(dir, "script"), job.command);
      spawner ??= open();
      const mine = spawner;
      if (mine.child.pid === undefined) {
        spawner = undefined;
        await new Promise((_, reject) => mine.child.once("error", reject));
      }
      const ended = new Promise<boolean>((resolve) => mine.waiting.set(dir, resolve));
      mine.child.stdin!.write(`${dir}\n${job.cwd}\n${noteDirectory(job.cwd, dir)}\n`);
      return { ended };
    },
  };
}

/** Says where the command ended, when that is not where it began. */
const noteDirectory = (cwd: string, dir: string): string =>
  `[ "$PWD" = ${quote(cwd)} ] || pwd -P >${quote(join(dir, "cwd"))}`;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
