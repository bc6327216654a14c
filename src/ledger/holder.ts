// The question who a process is and whether it still lives: machine, boot, pid, start time, state.
import { execFileSync, type StdioOptions } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isRecord } from "./guards.ts";
import { systemProgram } from "./programs.ts";
import type { HeldBy, Holder } from "./store.ts";

export interface ProcessState {
  startedAt: string;
  /** Stopped by a signal. */
  stopped: boolean;
}

const linux = process.platform === "linux";
let self: Omit<Holder, "interactive"> | undefined;

/** This process, as a lease records it. */
export function thisHolder(interactive: boolean): Holder {
  self ??= {
    machine: machineId(),
    boot: bootId(),
    pid: process.pid,
    startedAt: inspectProcess(process.pid)?.startedAt ?? "unknown",
  };
  return { ...self, interactive };
}

/** The machine whose files a path means: containers of one machine have pids of their own, and may share its files. */
export const thisMachine = (): string => thisHolder(false).machine.replace(/#.*$/s, "");

/** For people: `process 12`, and whose machine that is where it is not this one: there the number means another process, or none. */
export function holderText({ holder, stopped }: Pick<HeldBy, "holder" | "stopped">): string {
  const { pid, machine } = holder;
  const where =
    machine === thisHolder(false).machine ? "" : ` of another machine or container (${shownMachine(machine)})`;
  return `process ${pid}${stopped ? " (stopped)" : ""}${where}`;
}

/** The name of a machine as it stands in a store, for people: others write there. */
export const shownMachine = (machine: string): string => machine.slice(0, MOST_NAME).replace(/[^\w.#-]/g, "?");

const MOST_NAME = 80;

/** What somebody recorded as the holder of a lease. Contract: undefined when it is none; a pid is a whole number above 0. */
export function holderIn(value: unknown): Holder | undefined {
  if (!isRecord(value)) return undefined;
  const { machine, boot, pid, startedAt, interactive } = value;
  if (typeof machine !== "string" || typeof boot !== "string" || typeof startedAt !== "string") return undefined;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { machine, boot, pid, startedAt, interactive: interactive === true };
}

export function sameProcess(a: Holder, b: Holder): boolean {
  return a.machine === b.machine && a.boot === b.boot && a.pid === b.pid && a.startedAt === b.startedAt;
}

/** Where the holder ran, seen from here. `gone`: that boot is over, or it is known to be dead. `apart`: another machine or pid namespace. */
export function whereIs(holder: Holder): "here" | "gone" | "apart" {
  const me = thisHolder(false);
  const sameMachine = holder.machine.split("#")[0] === me.machine.split("#")[0];
  if (sameMachine && holder.boot !== me.boot) return "gone";
  if (holder.machine === me.machine) return "here";
  return isSeenDead(holder, me) ? "gone" : "apart";
}

/** By holder: its number here, where it was found before. */
const found = new Map<string, string>();

/**
 * From the first pid namespace of a boot the processes of all others are seen, with the number that each has in its own. Where /proc
 * shows only one's own processes nothing can be told.
 */
function isSeenDead({ boot, pid, startedAt }: Holder, me: Holder): boolean {
  if (!linux || boot !== me.boot || me.machine.includes("#") || !inspectProcess(1)) return false;
  const key = `${pid} ${startedAt}`;
  const isIt = (name: string): boolean => {
    if (!/^\d+$/.test(name) || fromProc(Number(name))?.startedAt !== startedAt) return false;
    const numbers = /^NSpid:\s*(.*)$/m.exec(readText(`/proc/${name}/status`) ?? "")?.[1];
    return numbers === undefined || numbers.split(/\s+/).at(-1) === String(pid);
  };
  const before = found.get(key);
  if (before !== undefined && isIt(before)) return false;
  const name = readdirSync("/proc").find(isIt);
  if (name !== undefined) found.set(key, name);
  return name === undefined;
}

/** The process behind a holder on this machine; undefined when it is gone, a zombie, or its pid was given to another. */
export function inspectHolder(holder: Holder): ProcessState | undefined {
  const state = inspectProcess(holder.pid);
  return state && state.startedAt === holder.startedAt ? state : undefined;
}

/** CLOCK_MONOTONIC in milliseconds: one clock for all processes of a boot. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

function inspectProcess(pid: number): ProcessState | undefined {
  return linux ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command name may hold spaces and parentheses: fields are counted from the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const state = fields[0] ?? "";
    if (state === "Z" || state === "X") return undefined;
    return { startedAt: fields[19] ?? "", stopped: state === "T" || state === "t" };
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): ProcessState | undefined {
  try {
    const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
    const stdio: StdioOptions = ["ignore", "pipe", "ignore"];
    const line = execFileSync(systemProgram("ps"), ["-o", "lstart=,stat=", "-p", String(pid)], {
      encoding: "utf8",
      stdio,
      env,
    }).trim();
    const cut = line.lastIndexOf(" ");
    const state = line.slice(cut + 1);
    if (cut < 0 || state.startsWith("Z")) return undefined;
    return { startedAt: line.slice(0, cut).trim(), stopped: state.startsWith("T") };
  } catch {
    return undefined;
  }
}

/** A pid means nothing outside its pid namespace, so the namespace is part of the machine's name. */
function machineId(): string {
  const id = readText("/etc/machine-id") ?? readText("/var/lib/dbus/machine-id") ?? hostname();
  try {
    const inode = /\[(\d+)\]/.exec(readlinkSync("/proc/self/ns/pid"))?.[1];
    return inode && inode !== INITIAL_PID_NAMESPACE ? `${id}#${inode}` : id;
  } catch {
    return id;
  }
}

const INITIAL_PID_NAMESPACE = "4026531836";

function bootId(): string {
  const id = readText("/proc/sys/kernel/random/boot_id");
  if (id) return id;
  try {
    return execFileSync(systemProgram("sysctl"), ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
