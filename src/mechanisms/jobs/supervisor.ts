// Owns the supervisors: small shell processes between the harness and its commands, which outlive the harness.
import { type ChildProcess, spawn } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { commandEnvironment } from "./environment.ts";

/**
 * What a command's own shell does: it is started ahead of need and waits for its job, so that a command does not wait for a
 * shell to start. Nothing of this is left when the command runs.
 */
const COMMAND = [
  "until IFS= read -r -t 60 hf_d; do kill -0 $PPID 2>/dev/null || exit; done",
  "IFS= read -r hf_c",
  "IFS= read -r hf_t",
  'exec >>"$hf_d/out" 2>&1 </dev/null',
  'cd -P "$hf_c" || exit 1',
  'trap "$hf_t" EXIT',
  'IFS= read -rd "" REPLY <"$hf_d/script"',
  "unset hf_d hf_c hf_t OLDPWD",
  'eval "$REPLY"',
].join("; "); // on one line: the lines of the command count from 1

/**
 * One shell a harness, out of which the supervisors are forked: forking the harness itself costs more with every megabyte it holds.
 * One supervisor at a time stands ready, with a shell for the command. It reads three lines (directory of the job, where to run,
 * what to run at the end), creates `started`, exclusively (who loses does nothing), hands the job on, waits, writes `exit`,
 * kills what is left of the command's process group (`cmd &` dies with the call) and answers with the job's directory.
 * `set -m` gives every command a group of its own, and spares it the SIGINT that a shell makes background commands ignore.
 *
 * The first shell watches what runs (hard limit, bound on output); when the harness is gone it goes on until the last has ended.
 */
const SPAWNER = `set -m
limit=$1 bound=$2 keep=$3 run=$4 dirs=() pids=() begun=() sizes=() lost=()
fast=.2 quick=5
[ "\${BASH_VERSINFO[0]}" -ge 4 ] || fast=1
if [ -e /proc/self/fd ]; then channel() { exec 9<> <(:); }
else channel() { f=$(mktemp -u) && mkfifo -m 600 "$f" && exec 9<>"$f" && rm -f "$f"; }
fi
channel
exec 8<&9
supervise() {
set -m -C
channel
/bin/bash -c "$run" bash <&9 >/dev/null 2>&1 8>&- 9>&- &
child=$! pid=\${BASHPID:-$(exec sh -c 'echo $PPID')} s= g=
if ! { IFS= read -r d && IFS= read -r c && IFS= read -r t; }; then
kill -9 $child
echo end >&8
exit
fi
{ read -r s </proc/$pid/stat; read -r g </proc/$child/stat; } 2>/dev/null
if { printf '%s\n' "$pid $s" "$child $g" >"$d/started"; } 2>/dev/null; then
printf '%s\n' "$d" "$c" "$t" >&9
echo "$d" >&8
wait $child
{ echo $? >"$d/exit"; } 2>/dev/null
kill -9 -- -$child 2>/dev/null
else
kill -9 $child
echo lost >&8
fi
trap '' PIPE
echo "$d"
}
ready() { supervise & next=$!; }
watch() {
quick=5
local i d n z s g
for i in "\${!pids[@]}"; do
d=\${dirs[i]} n=$((SECONDS-begun[i])) s= g=
{ read -r s <"$d/exit"; } 2>/dev/null
if ! kill -0 "\${pids[i]}" 2>/dev/null; then
unset "dirs[i]" "pids[i]" "begun[i]" "sizes[i]" "lost[i]"
continue
fi
[ $quick != 5 ] || quick=1
if [ "$n" -ge "$limit" ]; then
{ read -r g; read -r g; } <"$d/started"
if [ "$s" = timeout ]; then kill -9 -- -\${g%% *} 2>/dev/null
else (set -C; echo timeout >"$d/exit") 2>/dev/null && kill -TERM -- -\${g%% *}
fi
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
ready
while :; do
if IFS= read -r -t $quick -u 8 d; then
[ "$d" != end ] || break
[ "$d" = lost ] || { dirs+=("$d") pids+=($next) begun+=($SECONDS) sizes+=(0) lost+=(0) quick=$fast; }
ready
else
kill -0 $next 2>/dev/null || ready
watch
fi
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
    const child = spawn("/bin/bash", ["-c", SPAWNER, "holdfast-jobs", ...numbers.map(String), COMMAND], {
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
