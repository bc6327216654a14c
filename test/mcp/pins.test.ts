// What servers said when they were first seen, kept by several processes at once.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openPins } from "../../src/mechanisms/mcp/pins.ts";
import { tempDir } from "../house.ts";

const pinner = path.join(import.meta.dirname, "children/pinner.ts");
const run = promisify(execFile);
const TIMES = 15;

test("what four processes see first at once is all kept, and all of them show the same word for one server", async () => {
  const dir = tempDir("pins");
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, "mcp", "seen.json");
  const names = ["a", "b", "c", "d"];
  const said = await Promise.all(names.map((name) => run(process.execPath, [pinner, file, name, `${TIMES}`])));
  const kept = JSON.parse(fs.readFileSync(file, "utf8")) as Record<string, { look: { hash: string } }>;
  const all = [...names, "all"].flatMap((name) => Array.from({ length: TIMES }, (_, i) => `${name}-${i}`));
  expect(Object.keys(kept).sort()).toEqual(all.sort());
  const shown = Array.from({ length: TIMES }, (_, i) => `${i} ${kept[`all-${i}`]!.look.hash}`);
  expect(said.map(({ stdout }) => stdout.trim().split("\n"))).toEqual(names.map(() => shown));
  fs.writeFileSync(file, "{");
  await expect(openPins(file).shown("x", [])).rejects.toMatchObject({ code: "invalid" });
});
