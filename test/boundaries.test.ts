import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { cyclesIn, roomGraph } from "../scripts/rooms.ts";
import { mechanismsOf } from "../src/harness.ts";
import type { Mechanism } from "../src/loop/seams.ts";

const root = path.join(import.meta.dirname, "..");
const src = path.join(root, "src");

/** What each room may import, beside itself. */
const MAY_IMPORT: Record<string, string[]> = {
  ledger: [],
  text: ["ledger"],
  definitions: ["ledger"],
  plugins: ["ledger"],
  "file-snapshots": ["ledger"],
  models: ["ledger/error.ts", "ledger/text-file.ts", "text"],
  contexts: ["ledger", "file-snapshots"],
  backup: ["ledger", "contexts", "file-snapshots", "version.ts"],
  loop: ["ledger", "text", "contexts", "models/model.ts"],
  "file-access": ["ledger", "text", "loop", "models/model.ts"],
  "claude-code": ["ledger", "loop", "file-access"],
  settings: [
    "ledger/error.ts",
    "ledger/events.ts",
    "ledger/guards.ts",
    "ledger/make-dir.ts",
    "ledger/change-file.ts",
    "claude-code",
    "text",
  ],
  "shell-policy": ["ledger", "text", "file-access", "claude-code"],
  templates: ["ledger", "text"],
  mechanisms: [
    "ledger",
    "contexts",
    "loop",
    "models",
    "text",
    "definitions",
    "file-access",
    "file-snapshots",
    "claude-code",
    "shell-policy",
  ],
  hub: [
    "ledger",
    "text",
    "contexts",
    "loop",
    "models/model.ts",
    "templates",
    "mechanisms/agents/port.ts",
    "mechanisms/subagents/port.ts",
  ],
  workflow: ["ledger", "text", "contexts", "templates", "hub"],
  testing: ["ledger", "loop", "models", "contexts", "replay"],
  replay: [
    "ledger",
    "contexts",
    "loop",
    "models",
    "claude-code",
    "mechanisms",
    "harness.ts",
    "harness-options.ts",
    "version.ts",
  ],
  front: [
    "backup/own-ledgers.ts",
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
    "harness-options.ts",
    "run-result.ts",
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
    "plugins",
    "hub",
    "workflow",
    "replay",
    "backup",
    "front",
    "harness.ts",
    "harness-options.ts",
    "run-result.ts",
    "version.ts",
  ],
};

function sources(): string[] {
  return fs
    .readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && /\.tsx?$/.test(e.name))
    .map((e) => path.relative(src, path.join(e.parentPath, e.name)));
}

function importsOf(file: string): string[] {
  const text = fs.readFileSync(path.join(src, file), "utf8");
  return [...text.matchAll(/(?:from\s+|import\(\s*|import\s+)"(\.{1,2}\/[^"]+)"/g)].map((m) =>
    path.relative(src, path.resolve(src, path.dirname(file), m[1]!)),
  );
}

const mechanismFolders = (): string[] =>
  fs
    .readdirSync(path.join(src, "mechanisms"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

const SEAMS = ["input", "intake", "context", "system", "model", "gate", "ask", "tool", "stop"] as const;

/** What stands before the remark. */
const drawnIn = (line: string): string[] => line.split(/ {3,}/)[0]!.split(/ +/);

const isRoom = (name: string): boolean => !name.endsWith(".md");

const room = (file: string) => file.split(path.sep)[0]!;
const mechanism = (file: string) => (room(file) === "mechanisms" ? file.split(path.sep)[1] : undefined);

describe("import boundaries", () => {
  it("point one way: ledger ← contexts ← loop ← file-access ← shell-policy ← mechanisms ← harness ← front ← cli", () => {
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
    const names = [...mechanismFolders(), "hub"];
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

/** Verbs of commands are named as they are typed; ports and what fills them share a name on purpose. */
const NAMED_ALIKE = new Set(["ls", "show", "add", "forget", "remove", "HookGroup", "entries"]);

describe("names", () => {
  it("are exported once: one name, one meaning", () => {
    const files = new Map<string, Set<string>>();
    for (const file of sources()) {
      const text = fs.readFileSync(path.join(src, file), "utf8");
      // The monitor's page is a program of its own, in a browser: its names meet none of the house.
      const program = file.startsWith("front/monitor/page/") ? "page " : "";
      for (const [, name] of text.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm))
        files.set(program + name, (files.get(program + name) ?? new Set()).add(file));
    }
    const twice = [...files].filter(([name, where]) => where.size > 1 && !NAMED_ALIKE.has(name));
    expect(twice.map(([name, where]) => `${name}: ${[...where].join(", ")}`)).toEqual([]);
  });
});

describe("the map", () => {
  it("in docs/architecture.md lists every mechanism of the harness, in its order, with its seams, and no other", () => {
    const house = mechanismsOf({ root: "/", jobsDir: "/nowhere/jobs" }).filter(({ name }) => name !== "own-tools");
    const [, table] = fs
      .readFileSync(path.join(root, "docs/architecture.md"), "utf8")
      .split(/^## (?=Who attaches where$|The rooms$)/m);
    const inMap = [...table!.matchAll(/^\| \[?`([a-z-]+)`[^|]*\| ([^|]*) \|/gm)].map(([, name, seams]) => ({
      name,
      seams: SEAMS.filter((seam) => seams!.split(", ").includes(seam)),
    }));
    const attached = ({ seams = {} }: Mechanism) => SEAMS.filter((seam) => seams[seam] !== undefined);
    expect(inMap).toEqual(house.map((one) => ({ name: one.name, seams: attached(one) })));
    const homes = [...mechanismFolders(), ...fs.globSync("*/mechanism.ts", { cwd: src }).map(path.dirname)];
    expect(homes.sort()).toEqual(house.map(({ name }) => name).sort());
  });

  it("draws the direction of imports: each room imports only from lines below its own", () => {
    const map = fs.readFileSync(path.join(root, "docs/architecture.md"), "utf8");
    const lines = /^```\n(cli {2}index\.ts\n[\s\S]*?)^```$/m.exec(map)![1]!.trimEnd().split("\n");
    const level = new Map(lines.flatMap((line, i) => drawnIn(line).map((name) => [name, i] as const)));
    expect([...level.keys()].sort()).toEqual(fs.readdirSync(src).filter(isRoom).sort());
    const wrong = sources().flatMap((file) =>
      importsOf(file)
        .filter((target) => room(target) !== room(file) && !(level.get(room(target))! > level.get(room(file))!))
        .map((target) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("keeps the loop on a screen and every file of src under 400 lines", () => {
    const lines = (file: string) => fs.readFileSync(path.join(src, file), "utf8").split("\n").length - 1;
    expect(lines("loop/loop.ts")).toBeLessThanOrEqual(150);
    expect(sources().filter((file) => lines(file) > 400)).toEqual([]);
  });
});
