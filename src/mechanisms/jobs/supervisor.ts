// Owns the supervisor: the shell process between the harness and a command, which outlives the harness.
import { type ChildProcess, spawn } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { commandEnvironment } from "./environment.ts";

/**
 * Reads which job it is to run, so that it can be started ahead of need; no job, and it ends. `started` is created
 * exclusively: who loses does nothing. The command runs in the foreground, because a shell makes background commands ignore
 * SIGINT. The watchdog waits for the end of the pipe (the harness closes it after a moment, or dies), so that a short command
 * pays for no `sleep`. At the end it is killed and reaped before the group dies (not every container reaps orphans): at once, or,
 * once it watches, by USR1, which ends its sleep too; earlier, USR1 could get lost in it.
 */
const SUPERVISOR = `set -C
trap : TERM USR1
IFS= read -r d && IFS= read -r s && IFS= read -r atexit && cd -P "$s" || exit 0
limit=$1 bound=$2 keep=$3 s=
unset OLDPWD
{ read -r s </proc/$$/stat; } 2>/dev/null
{ echo "$$ $s" >"$d/started"; } 2>/dev/null || exit 0
exec 3<&0 </dev/null
(
trap : TERM
read -r s <&3
exec 3<&-
trap exit USR1
echo >"$d/watched"
n=0 last=0 dropped=0 begin=
while :; do
if { read -r s t </proc/uptime; } 2>/dev/null; then
s=\${s%.*}\${s#*.}
: "\${begin:=$s}"
n=$((s-begin))
fi
[ "$n" -lt "$limit" ] || break
z=0
[ ! -e "$d/out" ] || z=$(wc -c <"$d/out")
t=100
[ "$n" -ge 100 ] && [ $((z-last)) -lt $((bound/16)) ] || t=20
last=$z
if [ "$z" -gt "$bound" ]; then
[ -e "$d/out.head" ] || head -c "$keep" "$d/out" >"$d/out.head"
tail -c "$keep" "$d/out" >|"$d/out.tail"
: >|"$d/out"
dropped=$((dropped+z)) last=0
echo $dropped >|"$d/dropped"
fi
[ $((n+t)) -le "$limit" ] || t=$((limit-n))
sleep $((t/100)).$((t/10%10))$((t%10))
n=$((n+t))
done
echo timeout >"$d/exit"
kill -TERM -$$
sleep 1
kill -9 -$$
) &
( exec /bin/bash -c 'IFS= read -rd "" REPLY <"$1/script"; trap "$2" EXIT; shift 2; eval "$REPLY"' bash "$d" "$atexit" >>"$d/out" 2>&1 3<&- )
echo $? >"$d/exit"
if [ -e "$d/watched" ]; then kill -USR1 -$$; else kill -9 $!; fi
wait
kill -9 -$$`;

/** How long a command may run before its watchdog begins to look. */
const WATCH_AFTER_MS = 200;
/** The next supervisor is started when there is time for it: while the model thinks. */
const PREPARE_AFTER_MS = 20;

export interface Supervised {
  child: ChildProcess;
  exited: Promise<void>;
}

export interface SupervisorLimits {
  hardLimitMs: number;
  outputBytes: number;
}

export interface Supervisors {
  /** Contract: throws when no process could be started; nothing runs then. */
  start(dir: string, job: { command: string; cwd: string }): Promise<Supervised>;
  /** Starts one ahead of need. It holds nothing and ends with this process. */
  prepare(): void;
}

export function createSupervisors(limits: SupervisorLimits): Supervisors {
  let standby: Supervised | undefined;
  let preparing: NodeJS.Timeout | undefined;
  const open = (): Supervised => {
    const kept = Math.min(1 << 20, limits.outputBytes >> 2);
    const numbers = [Math.max(1, Math.ceil(limits.hardLimitMs / 10)), limits.outputBytes, kept];
    const child = spawn("/bin/sh", ["-c", SUPERVISOR, "holdfast-job", ...numbers.map(String)], {
      cwd: "/",
      env: commandEnvironment(process.env),
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin?.on("error", () => {}); // it died: its exit says so
    // A job in the background does not keep this process; whoever waits for one does.
    child.unref();
    (child.stdin as Socket | null)?.unref();
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    return { child, exited };
  };
  const prepare = () => {
    if (standby || preparing) return;
    preparing = setTimeout(() => {
      preparing = undefined;
      if (standby) return;
      const mine = open();
      mine.child.on("error", () => {}); // no process to spare: the next command tries again and says so
      if (mine.child.pid === undefined) return;
      standby = mine;
      mine.exited.then(() => {
        if (standby === mine) standby = undefined;
      });
    }, PREPARE_AFTER_MS);
    preparing.unref();
  };
  return {
    prepare,
    async start(dir, job) {
      if (`${dir}${job.cwd}`.includes("\n")) {
        throw new HoldfastError("invalid", "commands cannot run in a directory whose name has a line break");
      }
      statSync(job.cwd);
      writeFileSync(join(dir, "script"), job.command);
      const taken = standby ?? open();
      standby = undefined;
      const { child, exited } = taken;
      if (child.pid === undefined) await new Promise((_, reject) => child.once("error", reject));
      child.stdin!.write(`${dir}\n${job.cwd}\n${noteDirectory(job.cwd, dir)}\n`);
      const watch = setTimeout(() => child.stdin!.destroy(), WATCH_AFTER_MS);
      watch.unref();
      exited.then(() => {
        clearTimeout(watch);
        prepare();
      });
      return taken;
    },
  };
}

/** Says where the command ended, when that is not where it began. */
const noteDirectory = (cwd: string, dir: string): string =>
  `[ "$PWD" = ${quote(cwd)} ] || pwd -P >${quote(join(dir, "cwd"))}`;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
