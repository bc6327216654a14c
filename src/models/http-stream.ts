// The wire below every native adapter: one POST over a kept-alive connection, server-sent events read by hand, and what each failure means.
import type http from "node:http";
import type { Body } from "./growing-bytes.ts";
import { errorFromStatus } from "./http-error.ts";
import { connectionFault, proxyAnswer } from "./http-fault.ts";
import { type Environment, type Transport, transportFor } from "./http-transport.ts";
import { ModelError, type ReplyPart } from "./model.ts";

export const DEFAULT_STALL_MS = 90_000;
const ERROR_BODY_LIMIT = 65_536;
/** After the end mark the answer is whole; only the connection's own end is still awaited, so that it can be used again. */
const GRACE_AFTER_END_MS = 500;

/** What an adapter makes of the answer. */
export interface Sink {
  /** The data of one event. Contract: a throw ends the request with that error. */
  event(data: string): void;
  /** A whole answer that came as JSON instead of a stream. */
  whole(text: string): void;
  /** True once the answer would be whole if the connection ended here. */
  ended(): boolean;
  /** True once the end mark was seen: nothing follows. */
  marked(): boolean;
  partial(): ReplyPart[];
}

export interface PostOptions {
  url: string;
  headers: Record<string, string>;
  /** Names the model in messages. */
  label: string;
  /** No byte for this long means `stalled`. */
  stallMs?: number;
  /** Proxies and certificates; the process's own unless given. */
  env?: Environment;
}

export type Post = (body: Body, sink: Sink, signal: AbortSignal) => Promise<void>;

export function createPost(opts: PostOptions): Post {
  const url = new URL(opts.url);
  const { request, agent, proxy } = transportFor(url, opts.env ?? process.env);
  const fixed = { "content-type": "application/json", accept: "text/event-stream", ...opts.headers };
  const flat = ["host", url.host, ...Object.entries(fixed).flat(), "content-length"];
  const target = {
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port || (url.protocol === "https:" ? 443 : 80),
    path: url.pathname + url.search,
    method: "POST",
    agent,
  };
  // A flat list skips the checks of each header; a proxy needs the object, because it adds to it.
  const headersFor = (length: number) => (proxy ? { ...fixed, "content-length": length } : [...flat, String(length)]);
  const line: Line = {
    label: opts.label,
    url,
    proxy,
    stallMs: opts.stallMs ?? DEFAULT_STALL_MS,
    hasAnswered: false,
    begin: (length, onAnswer) => request({ ...target, headers: headersFor(length) }, onAnswer),
  };
  return (body, sink, signal) =>
    new Promise<void>((resolve, reject) => {
      if (signal.aborted) reject(interrupted(line.label, sink));
      else exchange(line, { body, sink, signal, resolve, reject });
    });
}

const interrupted = (label: string, sink: Sink): ModelError =>
  new ModelError("aborted", `${label}: the model call was interrupted`, { partial: sink.partial() });

/** To one address. */
interface Line extends Pick<Transport, "proxy"> {
  label: string;
  url: URL;
  stallMs: number;
  /** Whether this host has ever answered: then its name is right, and a failure is the weather's. */
  hasAnswered: boolean;
  begin(length: number, onAnswer: (res: http.IncomingMessage) => void): http.ClientRequest;
}

interface Exchange {
  body: Body;
  sink: Sink;
  signal: AbortSignal;
  resolve(): void;
  reject(error: unknown): void;
}

/** One request and its answer: it ends once, however it ends. */
function exchange(line: Line, { body, sink, signal, resolve, reject }: Exchange): void {
  const { label, stallMs } = line;
  let settled = false;
  let grace: NodeJS.Timeout | undefined;
  const finish = (error?: unknown) => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    clearTimeout(grace);
    signal.removeEventListener("abort", onAbort);
    if (error === undefined) return resolve();
    reject(error);
    req.destroy();
  };
  const fail: Ending["fail"] = (kind, message, cause) =>
    finish(new ModelError(kind, `${label}: ${message}`, { partial: sink.partial(), cause }));
  const onAbort = () => finish(interrupted(label, sink));
  const close = () => {
    finish();
    req.destroy();
  };
  const timer = setTimeout(() => {
    if (sink.ended()) close();
    else fail("stalled", `no byte for ${stallMs / 1000} s (HOLDFAST_STALL_MS sets the limit)`);
  }, stallMs);
  signal.addEventListener("abort", onAbort);
  const attempt = (work: () => void) => {
    if (settled) return;
    try {
      work();
    } catch (error) {
      finish(error);
    }
  };
  const req = line.begin(lengthOf(body), (res) => {
    line.hasAnswered = true;
    const refused = refusalIn(res, line);
    if (refused) return finish(refused);
    const read = readerFor(res, { label, sink, finish, fail });
    const came = unpacked(res);
    came.on("data", (chunk: Buffer) => {
      timer.refresh();
      attempt(() => read.data(chunk));
      if (!settled && sink.marked()) grace ??= setTimeout(close, GRACE_AFTER_END_MS);
    });
    came.on("end", () => attempt(() => read.end()));
    came.on("error", (error) => attempt(() => read.broken(error)));
    res.on("error", (error) => attempt(() => read.broken(error)));
    res.on("close", () => (came === res || !res.complete) && attempt(() => read.broken()));
  });
  req.on("error", (error: NodeJS.ErrnoException) => {
    const fault = connectionFault(error, line.url, line);
    finish(new ModelError(fault.kind, `${label}: ${fault.message}`, { partial: sink.partial(), cause: error }));
  });
  req.write(body.head);
  if (body.middle.length > 0) req.write(body.middle);
  req.end(body.tail);
}

/** An answer of something else than the model's server. */
function refusalIn({ statusCode: status = 0, headers }: http.IncomingMessage, line: Line): ModelError | undefined {
  if (status === 407 && line.proxy) {
    const { kind, message } = proxyAnswer(status, line.url, line.proxy);
    return new ModelError(kind, `${line.label}: ${message}`, { status });
  }
  return status === 200 && /html/.test(headers["content-type"] ?? "") ? webPage(line.label, line.url) : undefined;
}

/** What becomes of the request. */
interface Ending {
  label: string;
  sink: Sink;
  finish(error?: unknown): void;
  fail(kind: "cut" | "stalled", message: string, cause?: unknown): void;
}

interface BodyReader {
  data(chunk: Buffer): void;
  end(): void;
  broken(error?: unknown): void;
}

function readerFor(res: http.IncomingMessage, ending: Ending): BodyReader {
  if (res.statusCode !== 200 || /json/.test(res.headers["content-type"] ?? "")) return wholeReader(res, ending);
  // Some call a whole answer a stream of events: no line of such a stream begins with a brace.
  let chosen: BodyReader | undefined;
  return {
    data(chunk) {
      chosen ??= /^\ufeff?\s*\{/.test(chunk.toString("utf8", 0, 64)) ? wholeReader(res, ending) : streamReader(ending);
      chosen.data(chunk);
    },
    end: () => (chosen ?? streamReader(ending)).end(),
    broken: (error) => (chosen ?? streamReader(ending)).broken(error),
  };
}

function streamReader({ sink, finish, fail }: Ending): BodyReader {
  const parse = createEventReader((data) => sink.event(data));
  const cut = (cause?: unknown) => {
    if (sink.ended()) finish();
    else fail("cut", "the stream ended before its end mark", cause);
  };
  return {
    data: parse.feed,
    end() {
      parse.flush();
      cut();
    },
    broken: cut,
  };
}

function wholeReader(
  { statusCode: status = 0, headers }: http.IncomingMessage,
  { label, sink, finish, fail }: Ending,
): BodyReader {
  const chunks: Buffer[] = [];
  let size = 0;
  const answer = (cause?: unknown) => {
    const text = Buffer.concat(chunks).toString("utf8");
    if (status !== 200) return finish(errorFromStatus(label, status, headers, text));
    if (cause) return fail("cut", "the answer was cut off", cause);
    sink.whole(text);
    finish();
  };
  return {
    data(chunk) {
      if (status === 200 || size < ERROR_BODY_LIMIT) chunks.push(chunk);
      size += chunk.length;
    },
    end: () => answer(),
    broken: (error) => answer(error ?? new Error("the connection closed")),
  };
}

const webPage = (label: string, url: URL): ModelError =>
  new ModelError(
    "invalid",
    `${label}: ${url.host} answered with a web page: check the base URL, and whether the network wants you to sign in first`,
  );

/** Nobody asked for it, but some gateways compress all the same. */
function unpacked(res: http.IncomingMessage): NodeJS.ReadableStream {
  const encoding = res.headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return res;
  const zlib = process.getBuiltinModule("node:zlib");
  const flush = zlib.constants.Z_SYNC_FLUSH;
  const brotli = zlib.constants.BROTLI_OPERATION_FLUSH;
  return res.pipe(
    encoding === "br"
      ? zlib.createBrotliDecompress({ flush: brotli })
      : zlib.createUnzip({ flush, finishFlush: flush }),
  );
}

const lengthOf = (body: Body) => Buffer.byteLength(body.head) + body.middle.length + Buffer.byteLength(body.tail);

const [LF, CR] = [10, 13];
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads whole lines only, so that no character is ever split between two chunks. */
export function createEventReader(onData: (data: string) => void) {
  let rest: Buffer | undefined;
  let data = "";
  const lines = (text: string) => {
    let at = 0;
    for (;;) {
      const newline = text.indexOf("\n", at);
      if (newline < 0) return;
      const end = newline > at && text.charCodeAt(newline - 1) === 13 ? newline - 1 : newline;
      if (end === at) {
        if (data !== "") {
          const whole = data;
          data = "";
          onData(whole);
        }
      } else if (text.startsWith("data:", at)) {
        const line = text.slice(text.charCodeAt(at + 5) === 32 ? at + 6 : at + 5, end);
        data = data === "" ? line : `${data}\n${line}`;
      }
      at = newline + 1;
    }
  };
  /** Whether a carriage return alone ends its lines; undefined: no line has ended yet. */
  let byReturns: boolean | undefined;
  const begun = (buffer: Buffer): Buffer => {
    const bare = buffer.subarray(0, 3).equals(BOM) ? buffer.subarray(3) : buffer;
    const at = bare.findIndex((byte) => byte === LF || byte === CR);
    if (at >= 0 && (bare[at] === LF || at + 1 < bare.length)) byReturns = bare[at] === CR && bare[at + 1] !== LF;
    return bare;
  };
  return {
    feed(chunk: Buffer): void {
      let buffer = rest ? Buffer.concat([rest, chunk]) : chunk;
      if (byReturns === undefined) buffer = begun(buffer);
      if (byReturns) buffer = Buffer.from(buffer.map((byte) => (byte === CR ? LF : byte)));
      const end = buffer.lastIndexOf(10) + 1;
      rest = end === buffer.length ? undefined : buffer.subarray(end);
      if (end > 0) lines(buffer.toString("utf8", 0, end));
    },
    /** A last event whose blank line never came counts only if it is whole. */
    flush(): void {
      const left = rest;
      rest = undefined;
      try {
        lines(`${left?.toString("utf8").replaceAll("\r", "\n") ?? ""}\n\n`);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    },
  };
}

/** Contract: throws a ModelError when it is no object; what an object of that wire has in it, its provider says. */
export function parseJson<Wire extends object>(text: string, label: string): Wire {
  const wrong = (cause?: unknown) =>
    new ModelError("server", `${label}: the answer is not JSON: ${text.slice(0, 200)}`, { cause });
  let value: Wire | null;
  try {
    value = JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (cause) {
    throw wrong(cause);
  }
  if (typeof value !== "object" || value === null) throw wrong();
  return value;
}
