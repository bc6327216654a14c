// Owns the supervisor: a shell between the harness and its commands, which outlives the harness.
import { type ChildProcess, spawn } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { commandEnvironment } from "./environment.ts";

/**
 * What a command's own shell does. It is started ahead of need and waits for its job (directory of the job, where to run, what to run
 * at the end), so that a command does not wait for a shell to start. Its first act is to create `started`, exclusively: who
 * loses does nothing. Nothing of this is left when the command runs.
 */
const COMMAND = [
  "IFS= read -r hf_d && IFS= read -r hf_c && IFS= read -r hf_t || { echo q >&8; exit; }",
  "{ read -r hf_s </proc/$1/stat; read -r hf_g </proc/$$/stat; } 2>/dev/null",
  "set -C",
  `{ printf '%s\\n' "$1 $hf_s" "$$ $hf_g" >"$hf_d/started"; } 2>/dev/null || { echo "l $hf_d" >&8; exit; }`,
  "set +C --",
  'echo "t $PPID $$ $hf_d" >&8',
  'exec >>"$hf_d/out" 2>&1 </dev/null 8>&-',
  'cd -P "$hf_c" || exit 1',
  'trap "$hf_t" EXIT',
  'IFS= read -rd "" REPLY <"$hf_d/script"',
  "unset hf_d hf_c hf_t hf_s hf_g OLDPWD",
  'eval "$REPLY"',
].join("; "); // on one line: the lines of the command count from 1

/**
 * One shell a harness supervises its commands: forking the harness itself costs more with every megabyte it holds. It keeps one
 * shell ready for the next command, each with a waiter that says when it ended; `set -m` gives every command a process group of its
 * own, and spares it the SIGINT that a shell makes background commands ignore. It writes `exit`, kills what is left of the group
 * (`cmd &` dies with the call) and answers with the job's directory. In between it watches the hard limit and the bound on
 * output. When the harness is gone it goes on until the last command has ended.
 *
 * `--norc`, because a bash whose input is a socket takes itself for a remote login and reads the user's files.
 * The next shell is made ready when a command has ended, or a moment after it began: not while it starts.
 * A waiter that is gone may have left its last word in the pipe: only two seconds later is it taken for killed.
 * Messages on descriptor 8: `t WAITER PID DIR` taken, `l DIR` lost the race, `q` no more jobs, `e WAITER CODE` ended. A signal or
 * the clock may end a `read` in the middle of one: what it had is kept.
 */
const SUPERVISOR = `set -m -C
limit=$1 bound=$2 keep=$3 run=$4 open=1 part= soon=.01 fast=.2 quick=5 dirs=() groups=() begun=() sizes=() lost=() gone=()
[ "\${BASH_VERSINFO[0]}" -ge 4 ] || soon=1 fast=1
if [ -e /proc/self/fd ]; then exec 8<> <(:)
else f=$(mktemp -u) && mkfifo -m 600 "$f" && exec 8<>"$f" && rm -f "$f"
fi
waiter() {
set -m
trap - PIPE
/bin/bash --norc -c "$run" bash $$ <&0 >/dev/null 2>&1 &
wait $!
c=$?
echo "e \${BASHPID:-$(exec sh -c 'echo $PPID')} $c" >&8
}
ready() { waiter & next=$!; }
ended() {
local d=\${dirs[$1]} g=\${groups[$1]}
{ echo $2 >"$d/exit"; } 2>/dev/null
kill -9 -- -$g 2>/dev/null
unset "dirs[$1]" "groups[$1]" "begun[$1]" "sizes[$1]" "lost[$1]" "gone[$1]"
echo "$d"
}
watch() {
quick=5
local i d n z s
for i in "\${!dirs[@]}"; do
d=\${dirs[i]} n=$((SECONDS-begun[i])) z=0 s=
[ $quick != 5 ] || quick=1
if ! kill -0 $i 2>/dev/null; then
: \${gone[i]:=$SECONDS}
[ $((SECONDS-gone[i])) -lt 2 ] || kill -0 \${groups[i]} 2>/dev/null || ended $i 137
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
trap '' PIPE
ready
while [ $open = 1 ] || [ \${#dirs[@]} -gt 0 ]; do
m=
if IFS= read -r -t $quick -u 8 m; then
m=$part$m part=
case $m in
t*) m=\${m#t } w=\${m%% *} m=\${m#* }
dirs[w]=\${m#* } groups[w]=\${m%% *} begun[w]=$SECONDS sizes[w]=0 lost[w]=0 quick=$soon next= ;;
l*) echo "\${m#l }"
ready ;;
q) open=0 ;;
e*) m=\${m#e } w=\${m%% *}
if [ -n "\${dirs[w]-}" ]; then ended $w \${m#* }
elif [ $open = 1 ] && [ "$w" = "$next" ]; then ready
fi
[ -n "$next" ] || ready ;;
esac
else
part=$part$m
if [ -n "$next" ]; then watch
else
ready
quick=$fast
fi
fi
done`;

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

export interface Supervisor {
  /** Contract: throws when no process could be started; nothing runs then. */
  start(dir: string, job: { command: string; cwd: string }): Promise<Supervised>;
  /** Starts the shell ahead of need. It holds nothing and ends with this process. */
  prepare(): void;
}

interface Shell {
  child: ChildProcess;
  /** Who waits for the end of the job in that directory. */
  waiting: Map<string, (said: boolean) => void>;
}

export function createSupervisor(limits: SupervisorLimits): Supervisor {
  let shell: Shell | undefined;
  let preparing: NodeJS.Timeout | undefined;

  const open = (): Shell => {
    const kept = Math.min(1 << 20, limits.outputBytes >> 2);
    const numbers = [Math.max(1, Math.ceil(limits.hardLimitMs / 1000)), limits.outputBytes, kept];
    const child = spawn("/bin/bash", ["--norc", "-c", SUPERVISOR, "holdfast-jobs", ...numbers.map(String), COMMAND], {
      cwd: "/",
      env: commandEnvironment(process.env),
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const mine: Shell = { child, waiting: new Map() };
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
      if (shell === mine) shell = undefined;
      for (const dir of [...mine.waiting.keys()]) done(mine, dir, false);
    });
    return mine;
  };

  const done = ({ waiting }: Shell, dir: string, said: boolean) => {
    waiting.get(dir)?.(said);
    waiting.delete(dir);
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
    async start(dir, job) {
      if (`${dir}${job.cwd}`.includes("\n")) {
        throw new HoldfastError("invalid", "commands cannot run in a directory whose name has a line break");
      }
      statSync(job.cwd);
      writeFileSync(join(dir, "script"), job.command);
      shell ??= open();
      const mine = shell;
      if (mine.child.pid === undefined) {
        shell = undefined;
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
