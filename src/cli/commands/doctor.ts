// `holdfast doctor`: what works here, what does not, what to do about it.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defaultModelSpec } from "../../models/open-model.ts";
import { VERSION } from "../../version.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { safety } from "./doctor-safety.ts";
import { type DiagnosedStore, state } from "./doctor-state.ts";

export interface Diagnosis {
  what: string;
  ok: boolean;
  /** It is not as it could be, and works all the same. */
  warning?: true;
  says: string;
  /** What to do, when something is missing. */
  do?: string;
  /** Of a state that is on a server. */
  store?: DiagnosedStore;
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
