// The official conformance suite against our connection code, fetched by npx. Only in the long run.
import { spawn } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../house.ts";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const client = path.join(import.meta.dirname, "conformance-client.mjs");

/** Of the scenarios that the revision scores: all, and those that are not green. */
async function scored(revision: string): Promise<{ all: number; wrong: string[] }> {
  const command = `${process.execPath} ${client}`;
  const args = ["-y", SUITE, "client", "--command", command, "--requirements", revision];
  const child = spawn("npx", args, { cwd: tempDir("suite"), stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  await new Promise((resolve) => child.once("close", resolve));
  const [, summary = "", unscored = ""] = /=== SUITE SUMMARY ===([\s\S]*?)(Not scored for[\s\S]*)?$/.exec(said) ?? [];
  const left = new Set([...unscored.matchAll(/^ +[✓✗] (\S+)/gm)].map(([, name]) => name));
  const lines = [...summary.matchAll(/^([✓✗]) (\S+): (.*)$/gm)].filter(([, , name]) => !left.has(name!));
  return {
    all: lines.length,
    wrong: lines.flatMap(([, mark, name, says]) => (mark === "✓" ? [] : [`${name}: ${says}`])),
  };
}

test.runIf(process.env.HOLDFAST_LONG === "1").each([
  ["2025-11-25", 18, "14 passed"],
  ["2026-07-28", 32, "13 passed"],
])("every scored scenario of %s passes but for one warning", { timeout: 600_000 }, async (revision, all, passed) => {
  // A client whose metadata stands at an address of its own.
  expect(await scored(revision)).toEqual({ all, wrong: [`auth/basic-cimd: ${passed}, 0 failed, 1 warnings`] });
});
