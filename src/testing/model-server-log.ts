// What the scripted model server was asked: every request with its place in its conversation, and those that wait at a pause.
import { createHash } from "node:crypto";
import type http from "node:http";
import { problemsOf } from "./model-server-check.ts";
import type { ProviderName } from "./model-server-providers.ts";
import { repliesIn } from "./model-server-responses.ts";
import type { Fault, ScriptRequest } from "./model-server-script.ts";
import { createThoughts, type Thoughts } from "./model-server-thinking.ts";

export interface LoggedRequest extends ScriptRequest {
  at: number;
  headers: http.IncomingHttpHeaders;
  bytes: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
  /** The client's port: the same for requests over one connection. */
  clientPort: number;
  /** Arrival of an earlier request with the same body. */
  repeatOf?: number;
  fault?: Fault;
  status: number;
  /** Chunks handed to the connection so far. */
  chunksSent: number;
  /** The whole reply reached the client's connection. */
  delivered: boolean;
  /** Where the transcript is not valid. */
  problems: string[];
}

export interface RequestLog {
  readonly requests: LoggedRequest[];
  readonly thoughts: Thoughts;
  add(api: ScriptRequest["api"], req: http.IncomingMessage, raw: string): LoggedRequest;
}

export function createRequestLog(provider: ProviderName | undefined): RequestLog {
  const requests: LoggedRequest[] = [];
  const attempts = new Map<string, number>();
  const bodies = new Map<string, number>();
  const thoughts = createThoughts();
  return {
    requests,
    thoughts,
    add(api, req, raw) {
      const body = JSON.parse(raw);
      const arrival = requests.length + 1;
      const said: { role: string; content: unknown }[] = body.messages ?? body.input ?? [];
      const round =
        api === "openai-responses" ? repliesIn(said) : said.filter((message) => message.role === "assistant").length;
      const first = said.find((message) => message.role === "user")?.content ?? "";
      // Cache marks move between rounds: a conversation is told by its first words alone.
      const key = `${round} ${JSON.stringify(first).replaceAll(/,?"cache_control":\{[^}]*\}/g, "")}`;
      const attempt = (attempts.get(key) ?? 0) + 1;
      attempts.set(key, attempt);
      const sha256 = createHash("sha256").update(raw).digest("hex");
      const repeatOf = bodies.get(sha256);
      if (repeatOf === undefined) bodies.set(sha256, arrival);
      const entry: LoggedRequest = {
        api,
        ...(api === "openai" && provider && { provider }),
        model: body.model,
        round,
        attempt,
        arrival,
        body,
        at: Date.now(),
        headers: req.headers,
        bytes: Buffer.byteLength(raw),
        sha256,
        clientPort: req.socket.remotePort ?? 0,
        ...(repeatOf === undefined ? {} : { repeatOf }),
        status: 0,
        chunksSent: 0,
        delivered: false,
        problems: [...problemsOf(api, body), ...thoughts.problems(api, body)],
      };
      requests.push(entry);
      return entry;
    },
  };
}

export interface Pauses {
  /** Arrivals that wait. */
  held(): number[];
  /** Until it is released, or its client is gone. */
  wait(entry: LoggedRequest, res: http.ServerResponse): Promise<void>;
  release(arrival?: number): void;
  /** The next that waits. */
  next(): Promise<LoggedRequest>;
}

export function createPauses(): Pauses {
  const held = new Map<number, { entry: LoggedRequest; go: () => void }>();
  const waiters: ((request: LoggedRequest) => void)[] = [];
  return {
    held: () => [...held.keys()],
    wait: (entry, res) =>
      new Promise((go) => {
        held.set(entry.arrival, { entry, go });
        res.on("close", () => {
          held.delete(entry.arrival);
          go();
        });
        for (const waiter of waiters.splice(0)) waiter(entry);
      }),
    release(arrival) {
      for (const [n, { go }] of [...held]) {
        if (arrival !== undefined && n !== arrival) continue;
        held.delete(n);
        go();
      }
    },
    next() {
      const [first] = [...held.values()].sort((a, b) => a.entry.arrival - b.entry.arrival);
      return first ? Promise.resolve(first.entry) : new Promise((resolve) => waiters.push(resolve));
    },
  };
}
