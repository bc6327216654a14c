// The servers of one harness: connected when they are needed, again when they ended, with a pause that grows; what each offers now.
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { own } from "../../ledger/own.ts";
import type { ConnectOptions, Outcome, ServerConnection } from "./connection.ts";
import type { Asker } from "./elicitation.ts";
import { definitionHash, type ToolDefinition } from "./offer.ts";
import { openPins, type Pins } from "./pins.ts";
import type { McpHouse, McpServer } from "./port.ts";

export interface Connected {
  readonly connection: ServerConnection;
  /** The tools as they may be shown. */
  readonly tools: readonly ToolDefinition[];
  /** Of all of them. */
  readonly hash: string;
  /** By the server's name for the tool: what it says now and nobody has agreed to. */
  readonly changed: ReadonlyMap<string, ToolDefinition>;
}

export interface Servers {
  all(): readonly McpServer[];
  /** One more. Contract: undefined when it is used; where another has its name, where that is configured. */
  add(server: McpServer): string | undefined;
  /** Connects where it is not. `isAsked`: a pause after failures does not hold it back. */
  open(server: McpServer, opts: { signal: AbortSignal; isAsked?: boolean }): Promise<Outcome<Connected>>;
  /** Those that are connected, with what they offer now. Contract: asks only a server that said that it changed. */
  now(): Promise<Connected[]>;
  /** What that tool says now, where nobody has agreed to it. */
  changed(server: string, tool: string): ToolDefinition | undefined;
  approve(server: string, definition: ToolDefinition): Promise<void>;
  /** While `work` runs, questions of that server go to this call. */
  asking<T>(server: string, asker: Asker, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface Slot {
  server: McpServer;
  connected?: Connected;
  opening?: Promise<Outcome<Connected>>;
  failures: number;
  retryAt: number;
  says: string;
  askers: Asker[];
}

/** Before each try of one that was connected and ended. */
const AGAIN_MS = [0, 300, 1500];
const LONGEST_PAUSE_MS = 60_000;

/** `login`: tokens of the user for a server, where there are any. */
export function createServers(
  configured: readonly McpServer[],
  house: McpHouse,
  login?: (server: McpServer) => Promise<ConnectOptions["authProvider"]>,
): Servers {
  const slotFor = (server: McpServer): Slot => ({ server, failures: 0, retryAt: 0, says: "", askers: [] });
  const slots = new Map(configured.map((server) => [server.name, slotFor(server)]));
  /** What is still being connected ends with us. */
  const closing = new AbortController();
  let pins: Pins | undefined;
  let isClosed = false;
  const kept = () => {
    pins ??= openPins(path.join(house.stateDir, "mcp", "seen.json"));
    return pins;
  };

  async function offerOf(connection: ServerConnection): Promise<Outcome<Connected>> {
    const listed = await connection.tools();
    if (listed.kind !== "done") return listed;
    const { tools, changed } = await kept().shown(connection.server.name, listed.value);
    const hash = definitionHash(tools);
    return {
      kind: "done",
      value: { connection, tools, hash, changed: new Map(changed.map((one) => [one.tool, one])) },
    };
  }

  async function once(server: McpServer, slot: Slot, signal: AbortSignal): Promise<Outcome<Connected>> {
    const { connect } = await import("./connection.ts");
    const { elicit } = await import("./elicitation.ts");
    const authProvider = await login?.(server);
    const made = await connect(server, {
      house,
      elicit: (asked) => elicit(asked, { server, asker: slot.askers.at(-1), ...house }),
      authProvider,
      signal,
    });
    if (made.kind !== "done") return made;
    const offered = await offerOf(made.value);
    if (offered.kind !== "done" || isClosed) await made.value.close();
    return offered;
  }

  async function opened(server: McpServer, slot: Slot, signal: AbortSignal): Promise<Outcome<Connected>> {
    const pauses = slot.connected ? AGAIN_MS : [0];
    let outcome: Outcome<Connected> = { kind: "aborted" };
    for (const ms of pauses) {
      await pause(ms, signal);
      if (signal.aborted) return { kind: "aborted" };
      outcome = await once(server, slot, signal);
      if (outcome.kind !== "ended") break;
    }
    if (outcome.kind === "done") {
      Object.assign(slot, { connected: outcome.value, failures: 0, retryAt: 0 });
    } else if (outcome.kind !== "aborted" && outcome.kind !== "login") {
      slot.failures++;
      slot.retryAt = Date.now() + Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** slot.failures);
      slot.says = "says" in outcome ? outcome.says : "it did not answer in time";
    }
    return outcome;
  }

  return {
    all: () => [...slots.values()].map(({ server }) => server),
    add(server) {
      const taken = slots.get(server.name)?.server;
      if (taken) return isDeepStrictEqual(taken, server) ? undefined : taken.source;
      slots.set(server.name, slotFor(server));
      return undefined;
    },
    async open(server, { signal, isAsked = false }) {
      const slot = slots.get(server.name)!;
      if (slot.connected && slot.connected.connection.ended === undefined)
        return { kind: "done", value: slot.connected };
      const waits = slot.retryAt - Date.now();
      if (waits > 0 && !isAsked) return { kind: "ended", says: slot.says, pauseMs: waits };
      slot.opening ??= opened(server, slot, AbortSignal.any([signal, closing.signal])).finally(() => {
        delete slot.opening;
      });
      return slot.opening;
    },
    async now() {
      const live: Connected[] = [];
      for (const slot of slots.values()) {
        if (!slot.connected || slot.connected.connection.ended !== undefined) continue;
        if (slot.connected.connection.isStale) {
          const offered = await offerOf(slot.connected.connection);
          if (offered.kind === "done") slot.connected = offered.value;
        }
        live.push(slot.connected);
      }
      return live;
    },
    changed: (server, tool) => slots.get(server)?.connected?.changed.get(tool),
    async approve(server, definition) {
      await kept().approve(server, definition);
      const slot = slots.get(server);
      if (!slot?.connected) return;
      const tools = slot.connected.tools.map((one) => (one.tool === definition.tool ? definition : one));
      const changed = new Map([...slot.connected.changed].filter(([tool]) => tool !== definition.tool));
      slot.connected = { ...slot.connected, tools, changed, hash: definitionHash(tools) };
    },
    async asking(server, asker, work) {
      const { askers } = slots.get(server)!;
      askers.push(asker);
      try {
        return await work();
      } finally {
        askers.splice(askers.indexOf(asker), 1);
      }
    },
    async close() {
      isClosed = true;
      closing.abort();
      await Promise.allSettled([...slots.values()].map(({ opening }) => opening));
      await Promise.all([...slots.values()].map(({ connected }) => connected?.connection.close()));
    },
  };
}

/** The definitions as they are recorded. */
export const recorded = ({ connection, hash, tools }: Connected) => ({
  type: "mcp.offered",
  data: { server: connection.server.name, hash, tools: JSON.stringify(tools) },
});

export const isRecorded = (
  state: { servers: Record<string, { hash: string }> },
  { connection, hash }: Connected,
): boolean => own(state.servers, connection.server.name)?.hash === hash;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
