// Owns the supervisor: the shell process between the harness and a command, which outlives the harness.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandEnvironment } from "./environment.ts";

/**
 * `started` is created exclusively: who loses does nothing. The command runs in the foreground, because a shell makes
 * background commands ignore SIGINT. The watchdog waits for the end of its pipe (the harness closes it after a moment, or
 * dies), so that a short command pays for no `sleep`. USR1 ends the watchdog together with its sleep, reaped, before the group dies.
 */
const SUPERVISOR = `set -C
trap : TERM USR1
d=$1 limit=$2 bound=$3 keep=$4 s=
shift 4
{ read -r s </proc/$$/stat; } 2>/dev/null
{ echo "$$ $s" >"$d/started"; } 2>/dev/null || exit 0
exec 3<&0 </dev/null
(
trap : TERM
read -r s <&3
exec 3<&-
trap exit USR1
n=0 last=0 dropped=0
while [ "$n" -lt "$limit" ]; do
z=0
[ ! -e "$d/out" ] || z=$(wc -c <"$d/out")
t=10
[ $((z-last)) -lt $((bound/16)) ] || t=2
last=$z
if [ "$z" -gt "$bound" ]; then
[ -e "$d/out.head" ] || head -c "$keep" "$d/out" >"$d/out.head"
tail -c "$keep" "$d/out" >|"$d/out.tail"
: >|"$d/out"
dropped=$((dropped+z)) last=0
echo $dropped >|"$d/dropped"
fi
[ $((n+t)) -le "$limit" ] || t=$((limit-n))
sleep $((t/10)).$((t%10))
n=$((n+t))
done
echo timeout >"$d/exit"
kill -TERM 0
sleep 1
kill -9 0
) &
"$@" >>"$d/out" 2>&1 3<&-
echo $? >"$d/exit"
kill -USR1 0
wait
kill -9 0`;

/** An argument of this size still passes; beyond, the script goes through a file. */
const MAX_INLINE_BYTES = 100_000;
/** How long a command may run before its watchdog begins to look. */
const WATCH_AFTER_MS = 200;

export interface Supervised {
  child: ChildProcess;
  exited: Promise<void>;
}

export interface SupervisorLimits {
  hardLimitMs: number;
  outputBytes: number;
}

/** Contract: throws when no process could be started; nothing runs then. */
export async function startSupervisor(
  dir: string,
  job: { command: string; cwd: string },
  limits: SupervisorLimits,
): Promise<Supervised> {
  const script = withDirectoryTracking(job.command, job.cwd, dir);
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      SUPERVISOR,
      "holdfast-job",
      dir,
      String(Math.max(1, Math.ceil(limits.hardLimitMs / 100))),
      String(limits.outputBytes),
      String(Math.min(1 << 20, limits.outputBytes >> 2)),
      "/bin/bash",
      ...(Buffer.byteLength(script) <= MAX_INLINE_BYTES ? ["-c", script] : [scriptFile(dir, script)]),
    ],
    { cwd: job.cwd, env: commandEnvironment(process.env), detached: true, stdio: ["pipe", "ignore", "ignore"] },
  );
  child.stdin!.on("error", () => {});
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  if (child.pid === undefined) {
    await new Promise((_, reject) => child.once("error", reject));
  }
  const watch = setTimeout(() => child.stdin!.destroy(), WATCH_AFTER_MS);
  watch.unref();
  child.once("exit", () => clearTimeout(watch));
  return { child, exited };
}

function scriptFile(dir: string, script: string): string {
  const path = join(dir, "script");
  writeFileSync(path, script);
  return path;
}

/** Records where the command ended, when that is not where it began. */
function withDirectoryTracking(command: string, cwd: string, dir: string): string {
  const note = `[ "$PWD" = ${quote(cwd)} ] || pwd -P >${quote(join(dir, "cwd"))}`;
  return `trap ${quote(note)} EXIT\n${command}`;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function makeDirectory(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
}
