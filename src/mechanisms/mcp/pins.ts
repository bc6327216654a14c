// What a server's tools said when they were first seen in this project: a tool that says something else later is not shown before a person agrees.
import fs from "node:fs";
import path from "node:path";
import { makeDir } from "../../ledger/make-dir.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { ToolDefinition } from "./offer.ts";

export interface Pins {
  /** The tools as they may be shown, and those of them that say something else now. Contract: what is new is kept as it is. */
  shown(server: string, listed: readonly ToolDefinition[]): { tools: ToolDefinition[]; changed: ToolDefinition[] };
  /** A person agreed. */
  approve(server: string, definition: ToolDefinition): void;
}

type Kept = Record<string, Record<string, ToolDefinition>>;

export function openPins(file: string): Pins {
  const read = (): Kept => {
    try {
      return JSON.parse(fs.readFileSync(file, "utf8")) as Kept;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error; // whoever cannot compare shows nothing
    }
  };
  const write = (kept: Kept) => {
    makeDir(path.dirname(file));
    const fresh = `${file}.${process.pid}`;
    fs.writeFileSync(fresh, JSON.stringify(kept), { mode: 0o600 });
    fs.renameSync(fresh, file);
  };
  return {
    shown(server, listed) {
      const kept = read();
      const of = ownOr(kept, server, () => ({}));
      const changed: ToolDefinition[] = [];
      let isNew = false;
      const tools = listed.map((definition) => {
        const known = own(of, definition.tool);
        if (known === undefined) {
          keep(of, definition);
          isNew = true;
        } else if (known.hash !== definition.hash) changed.push(definition);
        return known ?? definition;
      });
      if (isNew) write(kept);
      return { tools, changed };
    },
    approve(server, definition) {
      const kept = read();
      keep(
        ownOr(kept, server, () => ({})),
        definition,
      );
      write(kept);
    },
  };
}

/** Whatever a server calls its tool: an assignment to `__proto__` would keep nothing. */
const keep = (of: Record<string, ToolDefinition>, value: ToolDefinition): void =>
  void Object.defineProperty(of, value.tool, { value, enumerable: true, configurable: true, writable: true });
