// Owns the supervisor: a shell between the harness and its commands, which outlives the harness.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { commandEnvironment } from "./environment.ts";
import { type Enclosure, JOBS_SEEN } from "./sandbox.ts";

/** Where the command's shell says at its end that it moved; a number that scripts do not use. */
const MOVED = 247;

/**
 * What a command's own shell does. It is started ahead of need and waits for its job (its directory's name, where to run), so that
 * a command does not wait for a shell to start. Its first act is to create `started`, exclusively: who loses does nothing.
 * Its arguments: the directory of all jobs as it sees it; its worker and itself, each a pid with its line of /proc; what it says
 * of itself. An empty name, or ten minutes without one, and it goes. Nothing of this is left when the command runs, but for the
 * descriptor on which it says where it ended.
 */
const COMMAND = [
  'hf_d=; until IFS= read -r -t 600 hf_c <&6; do [ -n "$hf_c" ] || { echo i >&6; exit; }; hf_d=$hf_d$hf_c; done',
  'hf_d=$hf_d$hf_c; [ -n "$hf_d" ] || { echo q >&6; exit; }; IFS= read -r hf_c <&6',
  "hf_b=$1/$hf_d; set -C",
  `{ printf '%s\\n' "$2" "$3" >"$hf_b/started"; } 2>/dev/null || { echo "l $hf_d" >&6; exit; }`,
  'echo "t $hf_d" >&6; echo "t $4 $hf_d" >&8; set +C --',
  `{ IFS= read -r hf_d; IFS= read -rd "" REPLY; } <"$hf_b/job"`,
  `exec >>"$hf_b/out" 2>&1 ${MOVED}>"$hf_b/cwd" 6<&- 8>&- 9<&-`,
  'cd -P "$hf_c" || exit 1',
  `printf -v hf_d '[ "$PWD" = %q ] || pwd -P >&${MOVED}' "$PWD"; trap "$hf_d" EXIT`,
  "unset hf_b hf_c hf_d OLDPWD",
  'eval "$REPLY"',
].join("; "); // on one line: the lines of the command count from 1

/**
 * One shell a harness supervises its commands: forking the harness itself costs more with every megabyte it holds. Its workers each
 * keep one shell ready for the next command; `set -m` gives every command a process group of its own, and spares it the SIGINT that a
 * shell makes background commands ignore. When the command has ended its worker writes `exit`, kills what is left of the group
 * (`cmd &` dies with the call), says so, and makes the next shell ready. The supervisor watches the hard limit and the bound on
 * output, adds a worker that serves once when all others have been busy for a moment, and stays until the last command has ended.
 *
 * `--norc`, because a bash whose input is a socket takes itself for a remote login and reads the user's files.
 * A worker that has said that it is there serves once before it looks whether the supervisor is: it may have been handed a job since.
 * The line that tells a worker to go may come before the word of the shell that just took a job: it is kept for later.
 * A worker that is gone may have left its last word in the pipe: only two seconds later is it taken for killed.
 * The search path is the user's, and may begin with what a command could write: the programs used here are looked for in the system first.
 * Descriptors: 6 a worker's own pipe, 7 ends with the harness, 8 messages to the supervisor, 9 the directory of all jobs.
 * Messages: `t WORKER PID NUMBER NAME` taken, `e NUMBER` ended, `x NUMBER` worker gone, `q` no more jobs. A signal or the clock may end
 * a `read` in the middle of one: what it had is kept.
 * The harness is told: `r NUMBER` a worker is there, `CODE NAME [NUMBER]` ended (and the worker is free again), where `?` for a code
 * means look; `! NUMBER` its shell could not be started.
 */
const SUPERVISOR = `set -m -C
exec 2>/dev/null
path=$PATH PATH=/usr/bin:/bin:$PATH
limit=$1 bound=$2 keep=$3 stock=$4 base=$5 inner=$6 run=$7 tag=$8 n=$9
shift 9
absent=("\${@:1:n}")
shift $n
open=1 part= last=0 free=0 soon=.01 fast=.2 quick=5 hired=() names=() groups=() workers=() begun=() sizes=() lost=() gone=()
[ "\${BASH_VERSINFO[0]}" -ge 4 ] || soon=1 fast=1
exec 7<&0 </dev/null 9<"$base"
trap '' PIPE
if [ -e /proc/self/fd ]; then exec 8<> <(:)
else f=$(mktemp -u) && mkfifo -m 600 "$f" && exec 8<>"$f" && rm -f "$f"
fi
worker() {
local k=$1 s= w n c g p f quit
shift
set -m
{ read -r s </proc/self/stat; } 2>/dev/null
w=\${s%% *}
: \${w:=$(exec sh -c 'echo $PPID')}
p=
trap 'kill -9 -- -$p; exit' TERM
echo "r $k"
while :; do
(
trap - PIPE TERM
PATH=$path
g=
{ read -r g </proc/self/stat; } 2>/dev/null
p=\${g%% *}
: \${p:=$(exec sh -c 'echo $PPID')}
exec "$@" /bin/bash --norc -c "$run" bash "$inner" "$w $s" "$p $g" "$w $p $k" >/dev/null 2>|"$base/.err$tag.$k"
) &
p=$!
wait $p
c=$?
n= quit=
while IFS= read -r -t 2 -u 6 n && [ -z "$n" ]; do quit=1; done
case $n in
t*) n=\${n#t }
for f in "\${absent[@]}"; do
[ -e "$f" ] || [ -L "$f" ] || continue
mkdir -p "$base/../taken/$n"
mv "$f" "$base/../taken/$n/"
done
{ echo $c >"$base/$n/exit"; } 2>/dev/null || c='?'
kill -9 -- -$p 2>/dev/null
if [ $k -gt $stock ]; then
echo "$c $n"
break
fi
echo "$c $n $k"
echo "e $k" >&8 ;;
l*) echo "? \${n#l } $k" ;;
i) ;;
q) break ;;
*) echo "! $k"
sleep 1 ;;
esac
[ -z "$quit" ] && kill -0 $$ 2>/dev/null || break
done
echo "x $k" >&8
}
hire() {
last=$((last+1)) free=$((free+1))
mkfifo -m 600 "$base/.go$tag.$last"
exec 6<>"$base/.go$tag.$last"
worker $last "$@" 2>/dev/null &
exec 6<&-
hired[last]=$!
}
forget() { unset "names[$1]" "groups[$1]" "workers[$1]" "begun[$1]" "sizes[$1]" "lost[$1]" "gone[$1]"; }
watch() {
quick=5
local i d n z s
for i in "\${!names[@]}"; do
d=$base/\${names[i]} n=$((SECONDS-begun[i])) z=0 s=
[ $quick != 5 ] || quick=1
if ! kill -0 \${workers[i]} 2>/dev/null; then
: \${gone[i]:=$SECONDS}
[ $((SECONDS-gone[i])) -lt 2 ] || kill -0 \${groups[i]} 2>/dev/null || {
s=137
{ echo $s >"$d/exit"; } 2>/dev/null || s='?'
echo "$s \${names[i]}"
forget $i
}
continue
fi
if [ "$n" -ge "$limit" ]; then
{ read -r s <"$d/exit"; } 2>/dev/null
if [ "$s" = timeout ]; then kill -9 -- -\${groups[i]} 2>/dev/null
else { echo timeout >"$d/exit"; } 2>/dev/null && kill -TERM -- -\${groups[i]}
fi
continue
fi
[ ! -e "$d/out" ] || z=$(wc -c <"$d/out")
[ "$n" -ge 5 ] && [ $((z-sizes[i])) -lt $((bound/16)) ] || quick=$fast
sizes[i]=$z
[ "$z" -gt "$bound" ] || continue
[ -e "$d/out.head" ] || head -c "$keep" "$d/out" >|"$d/out.head"
tail -c "$keep" "$d/out" >|"$d/out.tail"
: >|"$d/out"
lost[i]=$((lost[i]+z)) sizes[i]=0
echo "\${lost[i]}" >|"$d/dropped"
done
}
{ read -r _ <&7; echo q >&8; } >/dev/null &
exec 7<&-
while [ $last -lt $stock ]; do hire "$@"; done
while [ $open = 1 ] || [ \${#names[@]} -gt 0 ]; do
m=
if IFS= read -r -t $quick -u 8 m; then
m=$part$m part=
case $m in
t*) set -f
a=($m)
set +f
i=\${a[3]}
workers[i]=\${a[1]} groups[i]=\${a[2]} names[i]=\${a[4]} begun[i]=$SECONDS sizes[i]=0 lost[i]=0 free=$((free-1)) quick=$soon ;;
q) open=0 ;;
e*) forget \${m#e }
free=$((free+1)) ;;
x*) i=\${m#x }
unset "hired[i]"
[ -n "\${names[i]-}" ] || free=$((free-1))
forget $i ;;
esac
else
part=$part$m
if [ $open = 1 ] && [ $free -lt 1 ]; then
hire "$@"
quick=$fast
else watch
fi
fi
done
for k in "\${!hired[@]}"; do
f=$base/.go$tag.$k
if [ -p "$f" ]; then echo 1<>"$f"
else kill \${hired[k]} 2>/dev/null
fi
done
rm -f "$base"/.go$tag.* "$base"/.err$tag.*`;

/** The shell is started ahead of the first command, while the model thinks. */
const PREPARE_AFTER_MS = 20;

export interface SupervisorOptions {
  hardLimitMs: number;
  outputBytes: number;
  env?: Record<string, string>;
  /** What every command is shut in; default: nothing. */
  enclosure?: Enclosure;
}

export interface Supervised {
  /** Its exit code when its supervisor said so; undefined when it said no more than that it is over, or died: look for yourself. */
  ended: Promise<number | undefined>;
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
  /** No more jobs: it ends when those that run have ended. */
  close(): void;
}

interface Shell {
  child: ChildProcess;
  /** Part of the names of its files. */
  tag: string;
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
  supervised: Supervised;
  handed: () => void;
  resolve: (code: number | undefined) => void;
}

let opened = 0;

/** Contract: `dir` holds the directories of all jobs. */
export function createSupervisor(dir: string, limits: SupervisorOptions): Supervisor {
  let shell: Shell | undefined;
  let preparing: NodeJS.Timeout | undefined;

  /** The supervisor itself is in the sandbox: only it sees these there. */
  const seen = (): string[] => {
    const taken = join(dir, "..", "taken");
    mkdirSync(taken, { recursive: true, mode: 0o700 });
    return ["--bind", dir, `${JOBS_SEEN}/jobs`, "--bind", taken, `${JOBS_SEEN}/taken`, "--"];
  };

  const open = (): Shell => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const kept = Math.min(1 << 20, limits.outputBytes >> 2);
    const { outer, wrap, absent } = limits.enclosure ?? { outer: [], wrap: [], absent: [] };
    // A sandbox takes longer to start than a command; two are kept ready. In it the directory of the jobs is seen through descriptor 9 alone.
    const enclosed = wrap.length > 0;
    const [stock, inner, base] = enclosed ? [2, "/proc/self/fd/9", `${JOBS_SEEN}/jobs`] : [1, dir, dir];
    const numbers = [Math.max(1, Math.ceil(limits.hardLimitMs / 1000)), limits.outputBytes, kept, stock];
    const tag = `${process.pid}-${++opened}`;
    const command = [...outer, ...(enclosed ? seen() : []), "/bin/bash", "--norc", "-c", SUPERVISOR, "holdfast-jobs"];
    const args = [...numbers.map(String), base, inner, COMMAND, tag, `${absent.length}`, ...absent, ...wrap];
    const errors = join(dir, `.err${tag}.0`);
    const stderr = openSync(errors, "w", 0o600);
    const child = spawn(command[0]!, [...command.slice(1), ...args], {
      cwd: "/",
      env: limits.env ?? commandEnvironment(process.env),
      detached: true,
      stdio: ["pipe", "pipe", stderr],
    });
    closeSync(stderr);
    const mine: Shell = { child, tag, free: [], pipes: new Map(), queue: [], running: new Map() };
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
      for (const line of lines) hear(mine, line);
    });
    child.once("exit", (code) => {
      if (shell === mine) shell = undefined;
      const problem = code ? (textOf(errors) ?? `the supervisor of commands ended with exit code ${code}`) : undefined;
      rmSync(errors, { force: true });
      for (const pipe of mine.pipes.values()) closeSync(pipe);
      for (const job of [...mine.queue, ...mine.running.values()]) {
        job.supervised.problem = problem;
        job.resolve(undefined);
        job.handed();
      }
    });
    return mine;
  };

  const hear = (mine: Shell, line: string) => {
    const [said = "", what = "", again] = line.split(" ");
    if (said === "r") {
      const pipe = openPipe(join(dir, `.go${mine.tag}.${what}`));
      if (pipe === undefined) return; // somebody removed the directory
      mine.pipes.set(what, pipe);
      mine.free.push(what);
    } else if (said === "!") {
      for (const job of mine.running.values()) {
        if (job.worker !== what) continue;
        job.supervised.problem = textOf(join(dir, `.err${mine.tag}.${what}`)) ?? "its shell ended at once";
        end(mine, job.name, undefined);
        mine.free.push(what);
      }
    } else {
      const worker = end(mine, what, said === "?" ? undefined : Number(said));
      if (again !== undefined) mine.free.push(again);
      else if (worker !== undefined) {
        closeSync(mine.pipes.get(worker)!);
        mine.pipes.delete(worker);
      }
    }
    const job = mine.free.length > 0 && mine.queue.shift();
    if (job) hand(mine, job);
  };

  const end = ({ running }: Shell, name: string, code: number | undefined): string | undefined => {
    const job = running.get(name);
    job?.resolve(code);
    running.delete(name);
    return job?.worker;
  };

  const hand = (mine: Shell, job: Waiting) => {
    const worker = mine.free.shift();
    if (worker === undefined) return void mine.queue.push(job);
    mine.running.set(job.name, { ...job, worker });
    writeSync(mine.pipes.get(worker)!, `${job.name}\n${job.cwd}\n`);
    job.handed();
  };

  return {
    prepare() {
      if (shell || preparing) return;
      preparing = setTimeout(() => {
        preparing = undefined;
        if (shell) return;
        const mine = open();
        mine.child.on("error", () => {}); // no process to spare: the first command tries again and says so
        if (mine.child.pid !== undefined) shell = mine;
      }, PREPARE_AFTER_MS);
      preparing.unref();
    },
    get busy() {
      return shell !== undefined && shell.queue.length + shell.running.size > 0;
    },
    close() {
      clearTimeout(preparing);
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
      const staying = setInterval(() => undefined, 1 << 30); // nothing of the supervisor keeps this process
      await new Promise<void>((handed) => {
        supervised.ended = new Promise((resolve) => hand(mine, { name, cwd, supervised, handed, resolve }));
      });
      clearInterval(staying);
      return supervised;
    },
  };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

function openPipe(path: string): number | undefined {
  try {
    return openSync(path, "r+");
  } catch {
    return undefined;
  }
}
