// Named crash points: where a test may kill this process, and nothing else ever happens.

const armed = process.env.HOLDFAST_CRASH_AT; // "name" or "name:3" for the third time it is passed
let passed = 0;

/**
 * Contract: free when not armed. `HOLDFAST_CRASH_AT=intent.durable:2` kills the process with SIGKILL at the second passing;
 * `HOLDFAST_CRASH_AT=>FILE` only writes down which points are passed, a line each.
 */
export function crashPoint(name: string): void {
  if (armed === undefined) return;
  if (armed.startsWith(">")) {
    process.getBuiltinModule("node:fs").appendFileSync(armed.slice(1), `${name}\n`);
    return;
  }
  const [wanted, nth] = armed.split(":");
  if (wanted !== name || ++passed < Number(nth ?? 1)) return;
  process.kill(process.pid, "SIGKILL");
  // SIGKILL to oneself is delivered before this returns on Linux; elsewhere wait for it without going on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
