// The scripted model server: real HTTP in each wire format, playing a script with its faults, and a log of all that was asked.
import http from "node:http";
import { createPauses, createRequestLog, type LoggedRequest, type Pauses } from "./model-server-log.ts";
import { type ProviderName, providerOf } from "./model-server-providers.ts";
import {
  type Fault,
  isGoalQuestion,
  type Script,
  type ScriptRequest,
  type ScriptRound,
} from "./model-server-script.ts";
import type { Thoughts } from "./model-server-thinking.ts";
import { chunksOf, errorBody, errorChunk, wholeOf } from "./model-server-wire.ts";

export interface ServerLog {
  requests: LoggedRequest[];
  /** Arrivals that wait for a release. */
  paused: number[];
  invalid: { arrival: number; problems: string[] }[];
}

export interface ModelServerOptions {
  script?: Script;
  /** `round`: by the assistant messages in the request (the same answer for a repeated one). `arrival`: one round a request. */
  match?: "round" | "arrival";
  port?: number;
  /** Behind the Chat Completions wire: speak, and refuse, as this provider does. */
  provider?: ProviderName;
}

export interface ModelServer {
  readonly url: string;
  /** For ANTHROPIC_BASE_URL. */
  readonly anthropicUrl: string;
  /** For OPENAI_BASE_URL. */
  readonly openaiUrl: string;
  setScript(script: Script): void;
  log(): ServerLog;
  /** Resolves once a request waits at a pause. */
  paused(): Promise<LoggedRequest>;
  /** Lets one paused request, or all, go on. */
  release(arrival?: number): void;
  reset(): void;
  /** Resolves once nobody is connected, or after that time: what a killed process had sent is in the log then. */
  untilAlone(mostMs: number): Promise<void>;
  close(): Promise<void>;
}

export async function startModelServer(opts: ModelServerOptions = {}): Promise<ModelServer> {
  let script: Script = opts.script ?? [];
  let asked = createRequestLog(opts.provider);
  const pauses = createPauses();
  const reset = () => {
    pauses.release();
    asked = createRequestLog(opts.provider);
  };
  const log = (): ServerLog => ({
    requests: asked.requests,
    paused: pauses.held(),
    invalid: asked.requests.flatMap(({ arrival, problems }) => (problems.length > 0 ? [{ arrival, problems }] : [])),
  });
  const control = (raw: string, res: http.ServerResponse) => {
    const command: Command = JSON.parse(raw || "{}");
    if (command.release !== undefined) pauses.release(command.release === true ? undefined : command.release);
    if (command.reset) reset();
    if (command.script) script = command.script;
    sendJson(res, 200, { ok: true });
  };
  const server = http.createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const raw = Buffer.concat(parts).toString("utf8");
      const path = new URL(req.url ?? "/", "http://127.0.0.1").pathname;
      if (path === "/__log") return sendJson(res, 200, log());
      if (path === "/__control") return control(raw, res);
      const api = API_OF_PATH.find(([end]) => path.endsWith(end))?.[1];
      if (!api || req.method !== "POST")
        return sendJson(res, 404, { error: { message: `no ${req.method} ${path} here` } });
      const { thoughts } = asked;
      answer(asked.add(api, req, raw), res, { script, match: opts.match, pauses, thoughts }).catch((error) =>
        sendJson(res, 500, { error: { message: String(error) } }),
      );
    });
  });
  const url = `http://127.0.0.1:${await listening(server, opts.port)}`;
  return {
    url,
    anthropicUrl: url,
    openaiUrl: `${url}/v1`,
    setScript: (next) => {
      script = next;
    },
    log,
    paused: pauses.next,
    release: pauses.release,
    reset,
    untilAlone: (mostMs) => untilAlone(server, mostMs),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function untilAlone(server: http.Server, mostMs: number): Promise<void> {
  const end = performance.now() + mostMs;
  const connections = () =>
    new Promise<number>((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
  while (performance.now() < end && (await connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Of `/__control`. */
interface Command {
  release?: number | true;
  script?: ScriptRound[];
  reset?: true;
}

async function listening(server: http.Server, port = 0): Promise<number> {
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  return typeof address === "object" && address ? address.port : port;
}

interface Scripted extends Pick<ModelServerOptions, "match"> {
  script: Script;
  pauses: Pauses;
  thoughts: Thoughts;
}

async function answer(
  entry: LoggedRequest,
  res: http.ServerResponse,
  { script, match = "round", pauses, thoughts }: Scripted,
) {
  const refusal = providerOf(entry).refuses?.(entry);
  if (refusal) {
    entry.problems.push(refusal.message);
    return sendError(entry, res, { status: 400, ...refusal });
  }
  const round = await roundFor(script, entry, match);
  if (!round) {
    const message = `the script has no round ${match === "arrival" ? entry.arrival - 1 : entry.round}`;
    return sendError(entry, res, { status: 400, type: "invalid_request_error", message });
  }
  const fault = round.faults?.[entry.attempt - 1] ?? undefined;
  if (fault) entry.fault = fault;
  if (fault && "status" in fault) return sendError(entry, res, fault);
  entry.status = 200;
  thoughts.note(entry, round);
  res.on("finish", () => {
    entry.delivered = fault === undefined || "pauseAt" in fault;
  });
  if (round.whole || entry.body.stream !== true) return sendJson(res, 200, wholeOf(entry, round));
  await sendStream(entry, res, { round, fault, pauses });
}

interface Playing {
  round: ScriptRound;
  fault: Fault | undefined;
  pauses: Pauses;
}

async function sendStream(entry: LoggedRequest, res: http.ServerResponse, { round, fault, pauses }: Playing) {
  const stop = stopOf(fault);
  const chunks = chunksOf(entry, round);
  if (fault && "cutAt" in fault && stop === 0) return void res.destroy();
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  res.flushHeaders();
  for (let i = 0; i <= chunks.length; i++) {
    if (i === stop && fault) {
      if ("stallAt" in fault) return;
      if ("endAt" in fault) return void res.end();
      if ("cutAt" in fault) return void setImmediate(() => res.destroy());
      if ("errorAt" in fault) {
        return void res.end(errorChunk(entry.api, { ...fault, message: fault.message ?? fault.type }));
      }
      await pauses.wait(entry, res);
    }
    if (i === chunks.length || res.destroyed) break;
    if (round.chunkDelayMs) await new Promise((done) => setTimeout(done, round.chunkDelayMs));
    // Each chunk reaches the client on its own, so that a fault always falls between two of them.
    await new Promise<void>((done) => res.write(chunks[i], () => done()));
    entry.chunksSent = i + 1;
  }
  res.end();
}

const API_OF_PATH: [end: string, api: ScriptRequest["api"]][] = [
  ["/messages", "anthropic"],
  ["/chat/completions", "openai"],
  ["/responses", "openai-responses"],
];

async function roundFor(script: Script, request: ScriptRequest, match: "round" | "arrival") {
  if (typeof script === "function") return script(request);
  const judged = match === "round" && isGoalQuestion(request) ? script[request.round - 1]?.verdict : undefined;
  if (judged !== undefined) return { text: judged };
  return script[match === "arrival" ? request.arrival - 1 : request.round];
}

function stopOf(fault: Fault | undefined): number | undefined {
  if (!fault || "status" in fault) return undefined;
  if ("stallAt" in fault) return fault.stallAt;
  if ("cutAt" in fault) return fault.cutAt;
  if ("endAt" in fault) return fault.endAt;
  return "errorAt" in fault ? fault.errorAt : fault.pauseAt;
}

const TYPE_OF_STATUS: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function sendError(entry: LoggedRequest, res: http.ServerResponse, fault: Extract<Fault, { status: number }>) {
  entry.status = fault.status;
  const type = fault.type ?? TYPE_OF_STATUS[fault.status] ?? "api_error";
  const body =
    fault.body ??
    JSON.stringify(
      errorBody(entry.api, { type, message: fault.message ?? type, code: fault.code, param: fault.param }),
    );
  res.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
  res.end(body);
}

function sendJson(res: http.ServerResponse, status: number, body: unknown) {
  if (res.headersSent) return void res.destroy();
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
}
