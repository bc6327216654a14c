// `holdfast doctor`: what works here, what does not, what to do about it.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isHoldfastError, messageOf } from "../../ledger/error.ts";
import { openStore } from "../../ledger/open-store.ts";
import { defaultModelSpec } from "../../models/open-model.ts";
import { VERSION } from "../../version.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { safety } from "./doctor-safety.ts";

export interface Diagnosis {
  what: string;
  ok: boolean;
  /** It is not as it could be, and works all the same. */
  warning?: true;
  says: string;
  /** What to do, when something is missing. */
  do?: string;
}

/** `!` is worth knowing; only `✗` is wrong, and the exit code. */
const markOf = ({ ok, warning }: Diagnosis): string => (ok ? "✓" : warning ? "!" : "✗");

export async function doctor(flags: PlaceFlags & JsonToo): Promise<number> {
  const findings = [
    runtime(),
    sqlite(),
    await state(flags),
    model(),
    command("bash", "commands cannot run: install bash"),
    command("git", "install git"),
    processes(),
    ...(await safety(flags)),
  ];
  if (flags.json) process.stdout.write(`${JSON.stringify({ version: VERSION, findings })}\n`);
  else {
    for (const f of findings)
      process.stdout.write(`${markOf(f)} ${f.what.padEnd(10)} ${f.says}${f.do ? `\n             → ${f.do}` : ""}\n`);
  }
  return findings.some((f) => !f.ok && !f.warning) ? 1 : 0;
}

const runtime = (): Diagnosis => ({
  what: "runtime",
  ok: true,
  says: `holdfast ${VERSION} on Node ${process.versions.node}, ${process.platform} ${process.arch}`,
});

function sqlite(): Diagnosis {
  const db = new DatabaseSync(":memory:");
  const row = db.prepare("SELECT sqlite_version() AS v").get();
  db.close();
  return { what: "sqlite", ok: true, says: String(row?.v) };
}

async function state(flags: PlaceFlags): Promise<Diagnosis> {
  try {
    const project = await projectOf(flags);
    const store = await openStore(project.ledgers);
    const damage = store.readOnly?.message;
    await store.close();
    const kind = networkFileSystem(project.stateDir);
    if (damage) return { what: "state", ok: false, says: damage, do: "`holdfast contexts verify` says more" };
    if (kind)
      return {
        what: "state",
        ok: false,
        says: `${project.stateDir} is on ${kind}, where locks of other hosts are not seen`,
        do: "set XDG_STATE_HOME to a local disk",
      };
    return {
      what: "state",
      ok: true,
      says: `${"file" in project.ledgers ? project.ledgers.file : store.url} (every append is synced to disk)`,
    };
  } catch (error) {
    return {
      what: "state",
      ok: false,
      says: messageOf(error),
      ...(isHoldfastError(error) ? {} : { do: "set XDG_STATE_HOME or --state to a folder that can be written" }),
    };
  }
}

function networkFileSystem(dir: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  const known: Record<number, string> = {
    26985: "NFS",
    4283649346: "CIFS",
    4266872130: "SMB",
    16914839: "9p",
    1702057286: "FUSE",
  };
  return known[fs.statfsSync(dir).type];
}

function model(): Diagnosis {
  const spec = defaultModelSpec(process.env);
  if (spec !== "rehearsal") return { what: "model", ok: true, says: spec };
  return {
    what: "model",
    ok: true,
    says: "rehearsal (offline, not an AI)",
    do: "for a real model set ANTHROPIC_API_KEY or OPENAI_API_KEY, or give --model",
  };
}

function command(name: string, todo: string): Diagnosis {
  const found = (process.env.PATH ?? "")
    .split(path.delimiter)
    .some((dir) => dir !== "" && fs.existsSync(path.join(dir, name)));
  return found ? { what: name, ok: true, says: "found" } : { what: name, ok: false, says: "not found", do: todo };
}

function processes(): Diagnosis {
  const ok = process.platform !== "linux" || fs.existsSync("/proc/self/stat");
  return {
    what: "processes",
    ok,
    says: ok ? "can be told apart after a crash" : "/proc is missing",
    ...(ok ? {} : { do: "mount /proc" }),
  };
}
