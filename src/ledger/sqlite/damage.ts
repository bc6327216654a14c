// What happens when damage is found: keep a copy first, then see what can still be proven.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { newId } from "../id.ts";
import { systemProgram } from "../programs.ts";
import { type Salvage, salvage } from "../salvage.ts";
import type { SalvagedLedger } from "../salvage-chain.ts";
import type { Damage, Seq } from "../store.ts";
import type { Connection } from "./connection.ts";
import { readCopies } from "./copies.ts";
import { toEvent, touchesOf } from "./rows.ts";
import { readHeads } from "./sidecar.ts";
import { patiently } from "./turns.ts";

export interface Assessment {
  /** Where the copies lie. */
  quarantine: string;
  found: Salvage;
  damage: Damage[];
  /** SQLite's own structure cannot be trusted: nothing in this file may be written any more. */
  structural: boolean;
}

const PARTS = ["", "-wal", ".heads"] as const;

/** One folder for each state of the files, so that a second open adds none. */
export function quarantineOf(file: string): string {
  const state = createHash("sha256");
  const parts = PARTS.filter((part) => existsSync(file + part));
  for (const part of parts) {
    const { size, mtimeMs } = statSync(file + part);
    state.update(`${part}:${size}:${mtimeMs}\n`);
  }
  return `${file}.damaged-${state.digest("hex").slice(0, 12)}`;
}

/** Copies before anything else. */
export function quarantine(file: string): string {
  const folder = quarantineOf(file);
  if (existsSync(folder)) return folder;
  const fresh = `${folder}.${newId("new")}`;
  copyStore(file, fresh);
  renameSync(fresh, folder);
  return folder;
}

/**
 * By `cp`, in a process of its own: POSIX drops all locks that this process has on a file when any descriptor of it is
 * closed, and with them those of SQLite, so that another process could delete the WAL under our hands.
 */
export function copyStore(file: string, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  const parts = PARTS.map((part) => file + part).filter((path) => existsSync(path));
  if (parts.length > 0) execFileSync(systemProgram("cp"), ["-p", "--", ...parts, folder], { stdio: "ignore" });
}

/** What the pages of a copied file, and the second copies beside the original, still prove. */
export function prove(copied: string, original: string): Salvage {
  return salvage(copied, readHeads(copied) ?? new Map(), readCopies(original));
}

/** The file with what lies behind a damage that was found earlier. */
export function findSalvage(file: string, damage: Damage): Damage {
  const start = `${basename(file)}.damaged-`;
  for (const folder of readdirSync(dirname(file)).filter((name) => name.startsWith(start))) {
    const inside = readdirSync(join(dirname(file), folder));
    const salvage = inside.find(
      (name) => name.startsWith(`${safeName(damage.ledger ?? "")}-`) && name.endsWith(".salvage.jsonl"),
    );
    if (salvage) return { ...damage, salvage: join(dirname(file), folder, salvage) };
  }
  return damage;
}

function safeName(ledger: string): string {
  return ledger.replace(/[^\w.-]/g, "_").slice(0, 80);
}

export async function assess(
  file: string,
  opts: { db?: Connection; seen: Damage[]; structural: boolean },
): Promise<Assessment> {
  const folder = quarantine(file);
  const copy = join(folder, basename(file));
  const found = prove(copy, file);
  const lost = [...found.ledgers.values()].filter((ledger) => ledger.damage);
  for (const ledger of lost) writeSalvage(folder, ledger);
  const structural = opts.structural || !opts.db || !(await soundStructure(opts.db)) || moreThanSeen(opts.seen, found);
  const whole = opts.seen.filter((one) => one.ledger === undefined);
  const named = opts.seen.filter(
    (one) => one.ledger !== undefined && !lost.some((ledger) => ledger.name === one.ledger),
  );
  const damage = [...whole, ...lost.flatMap((ledger) => ledger.damage ?? []), ...named];
  return { quarantine: folder, found, damage, structural };
}

/** Where the raw pages prove more than SQLite showed, it is SQLite's structure that is broken. */
function moreThanSeen(seen: Damage[], found: Salvage): boolean {
  return seen.some(
    ({ ledger, seq }) => ledger !== undefined && seq !== undefined && (found.ledgers.get(ledger)?.inPages ?? 0) >= seq,
  );
}

async function soundStructure(db: Connection): Promise<boolean> {
  try {
    const [first] = await patiently(() => db.all<{ quick_check: string }>("PRAGMA quick_check(1)"));
    return first?.quick_check === "ok";
  } catch {
    return false;
  }
}

/** What lies behind the break, for a person to read: one event in each line. */
export function writeSalvage(folder: string, ledger: SalvagedLedger): void {
  if (ledger.behind.length === 0 || !ledger.damage) return;
  const path = join(folder, `${safeName(ledger.name)}-${ledger.n}.salvage.jsonl`);
  ledger.damage.salvage = path;
  if (existsSync(path)) return;
  const lines = ledger.behind.map((row) => {
    try {
      return JSON.stringify(toEvent(row));
    } catch {
      return JSON.stringify({ ...row, sum: undefined, raw: true });
    }
  });
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });
}

export function describe(damage: Damage[]): string {
  const first = damage[0];
  const where =
    first?.ledger === undefined ? "" : ` (ledger ${first.ledger}${first.seq ? `, event ${first.seq}` : ""})`;
  const more = damage.length > 1 ? ` and ${damage.length - 1} more` : "";
  return `the store is damaged: ${first?.what ?? "its structure is broken"}${where}${more}; it can only be read until it is repaired`;
}

export function versionIn(ledger: SalvagedLedger | undefined, entity: string): Seq {
  return ledger?.rows.findLast((row) => touchesOf(row).includes(entity))?.seq ?? 0;
}
