// A store on disk with two doors, as two processes would have them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContextOptions, type Contexts, openContexts } from "../../src/contexts/index.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";

export interface World {
  folder: string;
  file: string;
  contexts: Contexts;
  /** Another door to the same file, with a store of its own. */
  again(opts?: ContextOptions): Promise<Contexts>;
  dispose(): Promise<void>;
}

export async function openWorld(opts: ContextOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-contexts-"));
  const file = join(folder, "p.db");
  const opened: Contexts[] = [];
  const again = async (more: ContextOptions = {}) => {
    const contexts = await openContexts({ file }, { ...opts, ...more });
    opened.push(contexts);
    return contexts;
  };
  return {
    folder,
    file,
    contexts: await again(),
    again,
    async dispose() {
      for (const one of opened) await one.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Code and message of the refusal. */
export async function refusal(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await promise;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { code: error.code, message: error.message };
  }
  return { code: "none", message: "it was not refused" };
}

export const big = (n: number, seed = "x"): string => seed.repeat(Math.ceil(n / seed.length)).slice(0, n);
