// What the system says about processes: this boot, whether a process still is the same one, who is in a group.

import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errorCode } from "../../ledger/guards.ts";

let boot: string | undefined;

/** Names one boot of one machine: pids and start times mean nothing outside it. */
export function bootId(): string {
  boot ??= read("/proc/sys/kernel/random/boot_id")?.trim() ?? hostname();
  return boot;
}

let namespace: string | undefined;

/** Pids mean nothing outside it. */
export function pidNamespace(): string {
  namespace ??= /\[(\d+)\]/.exec(link("/proc/self/ns/pid") ?? "")?.[1] ?? "0";
  return namespace;
}

/** Whether any process, in whatever namespace of this machine, reads from that pipe. */
export function isHeld(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

export interface ProcessStat {
  pid: number;
  name: string;
  state: string;
  /** It runs no more of its program: what it held is being closed. */
  isExiting: boolean;
  group: number;
  session: number;
  /** In clock ticks since boot. */
  startedAt: string;
}

const EXITING = 0x4;

/** One line of /proc/PID/stat. The name in parentheses may itself hold spaces and parentheses. */
export function parseStat(line: string): ProcessStat | undefined {
  const close = line.lastIndexOf(")");
  if (close < 0) return undefined;
  const fields = line.slice(close + 2).split(" ");
  const { 0: state, 19: startedAt } = fields;
  if (state === undefined || startedAt === undefined) return undefined;
  return {
    pid: Number.parseInt(line, 10),
    name: line.slice(line.indexOf("(") + 1, close),
    state,
    isExiting: (Number(fields[6]) & EXITING) !== 0,
    group: Number(fields[2]),
    session: Number(fields[3]),
    startedAt,
  };
}

/** Contract: `startedAt` empty where the system has no /proc; then the pid alone decides. */
export function isAlive(pid: number, startedAt: string): boolean {
  if (startedAt === "") return signal(pid, 0);
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== "Z" && stat.startedAt === startedAt;
}

/** The leader of a process group, told apart from a later one with the same number. */
export interface Leader {
  pid: number;
  startedAt: string;
  session: number;
}

/** Whether anything of the group that this leader made still runs; a group that reused the number is not it. */
export function groupLives({ pid: leader, startedAt, session }: Leader): boolean {
  if (startedAt === "") return signal(-leader, 0);
  const now = statOf(leader);
  if (now && now.startedAt !== startedAt) return false;
  if (!signal(-leader, 0)) return false;
  return members({ pid: leader, startedAt, session }).length > 0;
}

/** Asks every process of the group to end; not the sandbox around it, whose end would kill it at once. */
export function askToEnd(leader: Leader): void {
  if (leader.startedAt === "") signal(-leader.pid, "SIGTERM");
  else for (const { pid, name } of members(leader)) if (name !== "bwrap") signal(pid, "SIGTERM");
}

export function childrenOf(pid: number): number[] {
  const text = read(`/proc/${pid}/task/${pid}/children`) ?? "";
  return text.split(" ").filter(Boolean).map(Number);
}

/**
 * How often something in that process's network asked for another machine and there was no way to it: no route, or nobody who
 * answers for names. Undefined where the system does not tell.
 */
export function unreachedFrom(pid: number): number | undefined {
  const lines = read(`/proc/${pid}/net/snmp`)?.split("\n");
  const counted = (kind: string, name: string): number => {
    const at = lines?.findIndex((line) => line.startsWith(kind)) ?? 0;
    return Number(lines?.[at + 1]?.split(" ")[lines[at]?.split(" ").indexOf(name) ?? 0] ?? 0);
  };
  return lines && counted("Ip: ", "OutNoRoutes") + counted("Udp: ", "NoPorts");
}

/**
 * Whether a command's own shell is gone, or runs no more of its program. In a sandbox it is the second process that this one counts,
 * a child of the first; its leader, outside, has that as its child. Contract: false where the system does not tell.
 */
export function shellHasEnded({ pid, startedAt }: Leader, enclosed: boolean): boolean {
  if (startedAt === "") return false;
  if (!enclosed) return isGone(pid, startedAt);
  const [first] = childrenOf(pid);
  if (first === undefined) return isGone(pid, startedAt);
  return childrenOf(first).every(
    (child) => isGone(child) || !/^NSpid:.*\t2$/m.test(read(`/proc/${child}/status`) ?? ""),
  );
}

function isGone(pid: number, startedAt?: string): boolean {
  const stat = statOf(pid);
  return !stat || stat.isExiting || stat.state === "Z" || (startedAt !== undefined && stat.startedAt !== startedAt);
}

function members({ pid: leader, session }: Leader): ProcessStat[] {
  return readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    return stat && stat.group === leader && stat.session === session && stat.state !== "Z" ? [stat] : [];
  });
}

export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

function statOf(pid: number): ProcessStat | undefined {
  const line = read(`/proc/${pid}/stat`);
  return line === undefined ? undefined : parseStat(line);
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
