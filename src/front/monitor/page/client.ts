// The one way from the page to its server: answers, writes, and streams that go on where they were cut.
import type { Action, ActionAnswer, ContextKey } from "../api.ts";
import { createStreamReader } from "./event-stream.ts";
import { isOwnServer } from "./proof.ts";

/** What the server said instead of an answer. */
export class AnswerError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, says: string) {
    super(says);
    this.status = status;
    this.code = code;
  }
}

/** `refused`: who answers is not the page's server, or does not know the page any more; asking again changes nothing. */
export type LiveState = "connecting" | "live" | "lost" | "refused";

interface LiveOptions<Message> {
  /** The id of the last message that is known already: the stream goes on behind it. */
  since?: string | undefined;
  /** Contract: called once for each message, in order. What it throws ends the connection, and the message comes again. */
  onMessage(message: Message, id: string | undefined): void;
  onState?(state: LiveState): void;
  signal: AbortSignal;
}

export interface Client {
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>;
  /** Exact bytes, for downloads. */
  bytes(path: string, signal?: AbortSignal): Promise<Blob>;
  act(key: ContextKey, action: Action): Promise<ActionAnswer>;
  /** Resolves when `signal` ends it, or when the server refuses it. */
  live<Message>(path: string, options: LiveOptions<Message>): Promise<void>;
}

export interface ClientOptions {
  token: string;
  /** Where the server is: the page's own origin. */
  base: string;
  /** Streams are read while this is so, and taken up again when it becomes so: a hidden tab must not use up the browser's connections. */
  shown?: { now(): boolean; onChange(listener: () => void): () => void };
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
/** Longer than the server is ever silent: a connection that sleeps with its machine would look alive for ever. */
const SILENCE_MS = 60_000;

/** `/p/PROJECT/c/CONTEXT`, each part as it stands in an address. */
export const contextPath = ({ project, context }: ContextKey): string =>
  `/api/p/${encodeURIComponent(project)}/c/${encodeURIComponent(context)}`;

export const projectPath = (project: string): string => `/api/p/${encodeURIComponent(project)}`;

export function createClient({ token, base, shown }: ClientOptions): Client {
  const authorization = `Bearer ${token}`;

  let proving: Promise<void> | undefined;

  /** The port may be anybody's once the monitor has ended: after each loss it is asked anew whose it is. */
  const lost = () => {
    proving = undefined;
  };

  function proven(): Promise<void> {
    proving ??= isOwnServer(token, base).then(
      (isOwn) => {
        if (!isOwn) throw new AnswerError(401, "stranger", "something else answers at this address");
      },
      (error: unknown) => {
        lost();
        throw error;
      },
    );
    return proving;
  }

  async function asked(path: string, init: RequestInit): Promise<Response> {
    await proven();
    const headers = { authorization, ...(init.headers as Record<string, string>) };
    const sent = { ...init, headers, cache: "no-store", credentials: "same-origin", redirect: "error" } as const;
    return fetch(base + path, sent).catch((error: unknown) => {
      if (!init.signal?.aborted) lost();
      throw error;
    });
  }

  async function answered(path: string, init: RequestInit): Promise<Response> {
    const response = await asked(path, init);
    if (response.ok) return response;
    throw refusalIn(response.status, (await response.json().catch(() => ({}))) as Refusal);
  }

  async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    return (await (await answered(path, { signal: signal ?? null })).json()) as Answer;
  }

  async function act(key: ContextKey, action: Action): Promise<ActionAnswer> {
    const headers = { "content-type": "application/json", "x-holdfast-write": "1" };
    const response = await asked(`${contextPath(key)}/act`, { method: "POST", headers, body: JSON.stringify(action) });
    const said = (await response.json().catch(() => ({}))) as Partial<ActionAnswer> & Refusal;
    // Also where nothing was done, because somebody else was first: that is an answer.
    if (said.ok !== undefined) return said as ActionAnswer;
    throw refusalIn(response.status, said);
  }

  async function live<Message>(path: string, options: LiveOptions<Message>): Promise<void> {
    const { signal, onMessage, onState } = options;
    let since = options.since;
    let wait = FIRST_WAIT_MS;
    while (!signal.aborted) {
      await untilShown(shown, signal);
      const connection = connectionUntil(signal, shown);
      try {
        onState?.("connecting");
        const headers: Record<string, string> = { accept: "text/event-stream" };
        if (since !== undefined) headers["last-event-id"] = since;
        const response = await answered(path, { headers, signal: connection.signal });
        onState?.("live");
        const reader = createStreamReader(since);
        for await (const piece of piecesOf(response, connection)) {
          for (const { id, data } of reader.take(piece)) {
            onMessage(JSON.parse(data) as Message, id);
            since = id;
            wait = FIRST_WAIT_MS;
          }
        }
      } catch (error) {
        if (error instanceof AnswerError && isFinal(error.status)) {
          onState?.("refused");
          return;
        }
      } finally {
        connection.end();
      }
      if (signal.aborted) return;
      lost();
      if (shown?.now() === false) continue;
      onState?.("lost");
      await pause(wait, signal);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  return {
    get,
    bytes: async (path, signal) => (await answered(path, { signal: signal ?? null })).blob(),
    act,
    live,
  };
}

interface Refusal {
  error?: string;
  code?: string;
}

function refusalIn(status: number, { error, code }: Refusal): AnswerError {
  return new AnswerError(status, code ?? "unknown", error ?? `the monitor answered ${status}`);
}

/** The same question gets the same answer: too many, too slow and a server in trouble are not that. */
const isFinal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

interface Connection {
  signal: AbortSignal;
  heard(): void;
  end(): void;
}

/** Ends with its owner, when the page is hidden, and after a silence. */
function connectionUntil(signal: AbortSignal, shown: ClientOptions["shown"]): Connection {
  const own = new AbortController();
  const end = () => own.abort();
  let timer = setTimeout(end, SILENCE_MS);
  const forget = shown?.onChange(() => shown.now() || end());
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return {
    signal: own.signal,
    heard() {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
    },
    end() {
      clearTimeout(timer);
      forget?.();
      signal.removeEventListener("abort", end);
      end();
    },
  };
}

async function* piecesOf(response: Response, connection: Connection): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    connection.heard();
    yield decoder.decode(value, { stream: true });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}

function untilShown(shown: ClientOptions["shown"], signal: AbortSignal): Promise<void> {
  if (!shown || shown.now()) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      if (!signal.aborted && !shown.now()) return;
      forget();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const forget = shown.onChange(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
