// A whole house for a test, as users run it: real store, real HTTP to the scripted model server, a temporary project; a key of real
// length, the variables of a CI job, hooks, redaction and sandbox on (environment.ts). A test that needs otherwise says so.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as z from "zod";
import { createHarness, type Harness } from "../src/harness.ts";
import type { HarnessOptions } from "../src/harness-options.ts";
import { openSqliteStore } from "../src/ledger/sqlite/index.ts";
import type { Store, StoredEvent } from "../src/ledger/store.ts";
import type { Effect, Tool, ToolOutput, ToolRun } from "../src/loop/seams.ts";
import { openModel } from "../src/models/open-model.ts";
import { type ModelServer, startModelServer } from "../src/testing/model-server.ts";
import type { ProviderName } from "../src/testing/model-server-providers.ts";
import type { Script } from "../src/testing/model-server-script.ts";
import { enterProduction, HOUSE_HOOKS, harmlessHooks, KEYS, sandboxFor } from "./environment.ts";

export interface House {
  root: string;
  state: string;
  server: ModelServer;
  store: Store;
  harness: Harness;
  /** Whether commands are shut in: not where bubblewrap is missing. */
  sandboxed: boolean;
  /** Every event of the ledger but those of the house's own hooks, which say nothing. */
  events(context: string): Promise<StoredEvent[]>;
  /** Another harness on the same state, as after a crash of the first. */
  again(more?: Partial<HarnessOptions>): Promise<Harness>;
  close(): Promise<void>;
}

export const tempDir = (name = "holdfast"): string =>
  fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`)));

export async function openHouse(
  script: Script,
  more: Partial<HarnessOptions> & {
    api?: "openai" | "anthropic";
    provider?: ProviderName;
    contextTokens?: number;
  } = {},
): Promise<House> {
  const root = tempDir("project");
  const state = tempDir("state");
  const { api = "openai", provider, contextTokens, ...options } = more;
  const server = await startModelServer({ script, ...(provider && { provider }) });
  enterProduction();
  const env = {
    OPENAI_BASE_URL: server.openaiUrl,
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    ...KEYS,
  };
  const spec = api === "openai" ? `openai-compatible/${provider ?? "mock"}` : "anthropic/mock";
  const model = await openModel(spec, { env, ...(contextTokens && { limits: { contextTokens } }) });
  const store = await openSqliteStore(path.join(state, "ledger.db"));
  const production = productionOptions(state, root);
  const make = (extra: Partial<HarnessOptions> = {}) =>
    createHarness({
      model,
      store,
      root,
      jobsDir: path.join(state, "jobs"),
      permissionMode: "bypass",
      ...production,
      ...options,
      ...extra,
    });
  const harness = make();
  return {
    root,
    state,
    server,
    store,
    harness,
    sandboxed: production.sandbox !== undefined,
    async events(context) {
      const all: StoredEvent[] = [];
      for await (const event of store.read(context)) if (!isHouses(event)) all.push(event);
      return all;
    },
    async again(extra) {
      return make(extra);
    },
    async close() {
      await harness.close();
      await store.close();
      await server.close();
      fs.rmSync(root, { recursive: true, force: true });
      fs.rmSync(state, { recursive: true, force: true });
    },
  };
}

/** What a user's settings and machine bring. */
const productionOptions = (state: string, root: string) => ({
  hooks: harmlessHooks(undefined, HOUSE_HOOKS),
  sandbox: sandboxFor(state, root),
});

const isHouses = ({ type, data }: StoredEvent): boolean =>
  type === "hook.ran" && (data as { source: string }).source === HOUSE_HOOKS;

/** A tool of a test's own. */
export function toolOf(
  name: string,
  effect: Effect,
  execute: (run: ToolRun) => Promise<ToolOutput> | ToolOutput,
): Tool {
  return {
    name,
    description: name,
    schema: () => z.strictObject({ n: z.number().optional() }),
    effect,
    execute: async (run) => execute(run),
  };
}
