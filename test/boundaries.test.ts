import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { cyclesIn, roomGraph } from "../scripts/rooms.ts";

const root = path.join(import.meta.dirname, "..");
const src = path.join(root, "src");

/** What each room may import, beside itself. */
const MAY_IMPORT: Record<string, string[]> = {
  ledger: [],
  text: ["ledger"],
  "file-snapshots": ["ledger"],
  models: ["ledger/error.ts", "ledger/text-file.ts", "text"],
  contexts: ["ledger", "file-snapshots"],
  loop: ["ledger", "contexts", "models/model.ts"],
  "file-access": ["ledger", "text", "loop", "models/model.ts"],
  "claude-code": ["ledger", "loop", "file-access"],
  settings: ["ledger/error.ts", "ledger/events.ts", "ledger/make-dir.ts", "claude-code", "text"],
  "shell-policy": ["ledger", "text", "loop", "file-access", "claude-code"],
  templates: ["ledger", "text"],
  mechanisms: [
    "ledger",
    "contexts",
    "loop",
    "models",
    "text",
    "file-access",
    "file-snapshots",
    "claude-code",
    "shell-policy",
  ],
  hub: [
    "ledger",
    "contexts",
    "loop",
    "models/model.ts",
    "templates",
    "mechanisms/agents/port.ts",
    "mechanisms/subagents/port.ts",
  ],
  workflow: ["ledger", "text", "contexts", "templates", "hub"],
  testing: ["ledger", "loop", "models", "contexts"],
  front: [
    "ledger",
    "text",
    "contexts",
    "loop",
    "models",
    "file-access",
    "claude-code",
    "shell-policy",
    "mechanisms",
    "harness.ts",
    "version.ts",
  ],
  cli: [
    "ledger",
    "contexts",
    "loop",
    "models",
    "text",
    "file-access",
    "claude-code",
    "shell-policy",
    "settings",
    "mechanisms",
    "hub",
    "workflow",
    "front",
    "harness.ts",
    "version.ts",
  ],
};

function sources(): string[] {
  return fs
    .readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && e.name.endsWith(".ts"))
    .map((e) => path.relative(src, path.join(e.parentPath, e.name)));
}

function importsOf(file: string): string[] {
  const text = fs.readFileSync(path.join(src, file), "utf8");
  return [...text.matchAll(/(?:from\s+|import\(\s*|import\s+)"(\.{1,2}\/[^"]+)"/g)].map((m) =>
    path.relative(src, path.resolve(src, path.dirname(file), m[1]!)),
  );
}

const room = (file: string) => file.split(path.sep)[0]!;
const mechanism = (file: string) => (room(file) === "mechanisms" ? file.split(path.sep)[1] : undefined);

describe("import boundaries", () => {
  it("point one way: ledger ← contexts ← loop ← file-access, shell-policy, mechanisms ← harness ← front ← cli", () => {
    const wrong = sources()
      .filter((file) => file.includes(path.sep))
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => room(target) !== room(file))
          .filter((target) => !MAY_IMPORT[room(file)]?.some((ok) => target === ok || target.startsWith(`${ok}/`)))
          .map((target) => `${file} → ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it("have no cycle between rooms (node scripts/rooms.ts)", () => {
    expect(cyclesIn(roomGraph())).toEqual([]);
  });

  it("keep mechanisms apart: of another one only its port.ts is imported", () => {
    const wrong = sources().flatMap((file) =>
      importsOf(file)
        .filter(
          (target) =>
            mechanism(file) !== undefined &&
            mechanism(target) !== undefined &&
            mechanism(target) !== mechanism(file) &&
            path.basename(target) !== "port.ts",
        )
        .map((target) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("keep the loop free of mechanisms: it names none", () => {
    const names = fs.readdirSync(path.join(src, "mechanisms"));
    const text = fs.readFileSync(path.join(src, "loop/loop.ts"), "utf8");
    expect(names.filter((name) => new RegExp(`["'\`/]${name}["'\`/]`).test(text))).toEqual([]);
  });

  it("keep what only some runs need out of a prompt's start: of the libraries it loads zod alone", () => {
    const seen = new Set<string>();
    const libraries = new Set<string>();
    const load = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = fs.readFileSync(path.join(src, file), "utf8");
      for (const [, target] of text.matchAll(/^(?:import|export)\s(?!type\s)[^;]*?from\s+"([^"]+)"/gm)) {
        if (target!.startsWith(".")) load(path.relative(src, path.resolve(src, path.dirname(file), target!)));
        else if (!target!.startsWith("node:")) libraries.add(target!);
      }
    };
    for (const entry of ["cli/main.ts", "cli/headless.ts"]) load(entry);
    expect([...libraries]).toEqual(["zod"]);
  });

  it("leave nothing to import time: no file runs a statement with an effect when loaded", () => {
    const wrong = sources().filter((file) => {
      const text = fs.readFileSync(path.join(src, file), "utf8");
      return !file.endsWith("-main.ts") && /^(?:await |process\.on|fs\.|console\.|setInterval|setTimeout)/m.test(text);
    });
    expect(wrong).toEqual([]);
  });
});

describe("the map", () => {
  it("in docs/architecture.md lists every mechanism of harness.ts, in its order, and no other", () => {
    const harness = fs.readFileSync(path.join(src, "harness.ts"), "utf8");
    const inCode = [...harness.matchAll(/from "\.\/mechanisms\/([a-z-]+)\/index\.ts"/g)].map((m) => m[1]!);
    const listed = harness.slice(harness.indexOf("return ["), harness.indexOf("];", harness.indexOf("return [")));
    const order = [...harness.matchAll(/import \{([^}]+)\} from "\.\/mechanisms\/([a-z-]+)\/index\.ts"/g)]
      .map((m) => ({
        name: m[2]!,
        at: Math.min(
          ...m[1]!
            .split(",")
            .map((n) => n.trim())
            .filter((n) => n !== "" && !n.startsWith("type "))
            .map((n) => listed.indexOf(`${n}(`))
            .filter((i) => i >= 0),
        ),
      }))
      .sort((a, b) => a.at - b.at)
      .map((m) => m.name);
    const map = fs.readFileSync(path.join(root, "docs/architecture.md"), "utf8");
    const inMap = [...map.matchAll(/^\| \[?`([a-z-]+)`/gm)].map((m) => m[1]!);
    expect(new Set(inCode)).toEqual(new Set(fs.readdirSync(path.join(src, "mechanisms"))));
    expect(inMap).toEqual(order);
  });

  it("keeps the loop on about a screen and a half and every file of src under 400 lines", () => {
    const lines = (file: string) => fs.readFileSync(path.join(src, file), "utf8").split("\n").length - 1;
    expect(lines("loop/loop.ts")).toBeLessThanOrEqual(170);
    expect(sources().filter((file) => lines(file) > 400)).toEqual([]);
  });
});
