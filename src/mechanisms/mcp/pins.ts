// What a server's tools said when they were first seen in this project: a tool that says something else later is not shown before a person agrees.
import fs from "node:fs";
import { changeFile } from "../../ledger/change-file.ts";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { ToolDefinition } from "./offer.ts";

export interface Pins {
  /** The tools as they may be shown, and those of them that say something else now. Contract: what is new is kept as it is, and of two processes that see it at once the first one's word holds. */
  shown(server: string, listed: readonly ToolDefinition[]): Promise<Shown>;
  /** A person agreed. */
  approve(server: string, definition: ToolDefinition): Promise<void>;
}

interface Shown {
  tools: ToolDefinition[];
  changed: ToolDefinition[];
}

type Kept = Record<string, Record<string, ToolDefinition>>;

/** Contract: throws where the file cannot be read: whoever cannot compare shows nothing. */
export function openPins(file: string): Pins {
  const read = (text: string | undefined) => readKept(text, file);
  return {
    async shown(server, listed) {
      const kept = read(fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined);
      const of = own(kept, server) ?? {};
      if (listed.every(({ tool }) => Object.hasOwn(of, tool))) return compared(of, listed);
      let shown: Shown | undefined;
      await changeFile(file, (text) => {
        const now = read(text);
        const known = ownOr(now, server, () => ({}));
        for (const definition of listed) if (!Object.hasOwn(known, definition.tool)) keep(known, definition);
        shown = compared(known, listed);
        return JSON.stringify(now);
      });
      return shown!;
    },
    approve: (server, definition) =>
      changeFile(file, (text) => {
        const kept = read(text);
        keep(
          ownOr(kept, server, () => ({})),
          definition,
        );
        return JSON.stringify(kept);
      }),
  };
}

/** Whatever a server calls its tool: an assignment to `__proto__` would keep nothing. */
const keep = (of: Record<string, ToolDefinition>, value: ToolDefinition): void =>
  void Object.defineProperty(of, value.tool, { value, enumerable: true, configurable: true, writable: true });
function readKept(text: string | undefined, file: string): Kept {
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as Kept;
  } catch (error) {
    const todo = "move it away: what servers say then counts as seen for the first time";
    throw new HoldfastError("invalid", `${file} is damaged (${messageOf(error)}): ${todo}`, { cause: error });
  }
}

function compared(known: Record<string, ToolDefinition>, listed: readonly ToolDefinition[]): Shown {
  const changed = listed.filter(({ tool, hash }) => own(known, tool)!.hash !== hash);
  return { tools: listed.map(({ tool }) => own(known, tool)!), changed };
}
