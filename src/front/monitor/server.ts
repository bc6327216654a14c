// The monitor's server: hono on loopback. Guard first, then routes; everything that is read comes bounded.
import { type Context as Asked, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { isContextId } from "../../contexts/listing.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Seq } from "../../ledger/store.ts";
import { CONTENT_TYPE } from "../metrics/exposition.ts";
import { type BoardPast, createBoardPast } from "../past/board.ts";
import { printable } from "../presentation/printable.ts";
import { act } from "./act.ts";
import { HEADERS } from "./answer-headers.ts";
import { checkpointRows, filesChanged, filesThen } from "./checkpoints.ts";
import type { RowKind } from "./context-api.ts";
import { contextPage } from "./context-page.ts";
import { type ContextSource, createContextSource } from "./context-source.ts";
import { createEventStreams, type Messages } from "./event-stream.ts";
import { boundedRecording, type RecordingOf } from "./fixture.ts";
import { followContext } from "./follow-context.ts";
import { createGuard } from "./guard.ts";
import { HELLO_PATH } from "./hello.ts";
import { inertJson } from "./inert-json.ts";
import { keepLedgers, type LedgerOf, type MonitoredProject } from "./monitored-project.ts";
import type { OverviewSource } from "./overview.ts";
import { projectPage } from "./project-page.ts";
import { bodyOf, requestView } from "./requests.ts";
import type { gatherUsage } from "./usage.ts";

export interface PageFiles {
  /** By name: `/` is the document. Undefined: there is none. */
  file(path: string): { type: string; body: Uint8Array<ArrayBuffer> } | undefined;
}

export interface MonitorOptions {
  /** Contract: whoever is there now. */
  project(id: string): MonitoredProject | undefined;
  overview: OverviewSource;
  promptCache: Parameters<typeof gatherUsage>[0];
  page: PageFiles;
  token: string;
  /** Known once it listens. */
  port: () => number;
  /** Prometheus text. */
  metrics?: () => Promise<string>;
  /** Contexts as tests. */
  recordingOf?: RecordingOf;
}

export interface MonitorApp {
  fetch(request: Request): Response | Promise<Response>;
  /** Everything it answers. */
  readonly routes: readonly { method: string; path: string }[];
}

/** Contexts that stay indexed and folded, the last looked at. */
const KEPT = 6;
/** Pages that follow at once: each has one stream for everything, and one for the context it shows. */
const MOST_STREAMS = 64;
/** Of what a person writes. */
const MOST_BODY = 256 * 1024;

interface Opened {
  project: MonitoredProject;
  ledgers: LedgerOf;
  sources: Map<string, ContextSource>;
  board: BoardPast;
}

export function createMonitorApp(opts: MonitorOptions): MonitorApp {
  const { overview, page } = opts;
  const guard = createGuard({ token: opts.token, port: opts.port });
  const streams = createEventStreams({ most: MOST_STREAMS });
  const opened = new Map<string, Opened>();

  function projectIn(asked: Asked): Opened {
    const id = asked.req.param("project") ?? "";
    const project = opts.project(id);
    if (!project) throw new NotThere("there is no such project");
    const known = opened.get(id);
    if (known) return known;
    const { store, readers } = project;
    const ledgers = keepLedgers({ store, codec: readers.codec, fold: readers.fold, most: KEPT });
    const fresh: Opened = { project, ledgers, sources: new Map(), board: createBoardPast(store) };
    opened.set(id, fresh);
    return fresh;
  }

  async function sourceIn(asked: Asked): Promise<{ of: Opened; source: ContextSource }> {
    const of = projectIn(asked);
    const id = asked.req.param("context") ?? "";
    const known = of.sources.get(id);
    // Other ledgers of the store are none; and of a shared one, anybody chooses the names.
    if (!isContextId(id)) throw new NotThere("there is no such context");
    const head = await of.project.store.head(id);
    if (head === 0) of.sources.delete(id);
    if (head === 0) throw new NotThere("there is no such context");
    const source = known ?? createContextSource({ ...of, id, promptCache: opts.promptCache });
    of.sources.delete(id);
    of.sources.set(id, source);
    for (const oldest of of.sources.keys()) {
      if (of.sources.size <= KEPT) break;
      of.sources.delete(oldest);
    }
    return { of, source };
  }

  async function contextIn(asked: Asked): Promise<{ of: Opened; source: ContextSource; ledger: Ledger }> {
    const { of, source } = await sourceIn(asked);
    return { of, source, ledger: await of.ledgers(source.id) };
  }

  const app = new Hono();
  app.use(async (asked, next) => {
    const refused = guard.refuse(asked.req.raw);
    if (refused) {
      const { status, error, code } = refused;
      if (isNavigation(asked.req.raw)) return asked.html(refusedPage(error), status, HEADERS);
      return asked.json({ error, code }, status, HEADERS);
    }
    await next();
    asked.res = await inert(asked.res);
    for (const [name, value] of Object.entries(HEADERS)) asked.res.headers.set(name, value);
  });
  app.use(bodyLimit({ maxSize: MOST_BODY, onError: (asked) => asked.json(TOO_LARGE, 413) }));
  const stream = (asked: Asked, messages: Messages): Response =>
    streams.open(asked.req.raw, messages) ?? asked.json(TOO_MANY, 429, { "retry-after": "5" });
  app.onError((error, asked) => {
    if (error instanceof NotThere) return asked.json({ error: error.message, code: "not_found" }, 404, HEADERS);
    if (isHoldfastError(error)) return asked.json({ error: printable(error.message), code: error.code }, 409, HEADERS);
    return asked.json({ error: "the monitor could not answer this", code: "bug" }, 500, HEADERS);
  });
  app.notFound((asked) => asked.json({ error: "there is nothing here", code: "not_found" }, 404, HEADERS));

  for (const path of ["/", "/app.js", "/app.css"])
    app.get(path, (asked) => {
      const file = page.file(path);
      if (!file) return asked.notFound();
      const headers: Record<string, string> = { "content-type": file.type };
      // Only the document's own address holds the token; what it sets opens documents, and nothing that holds data.
      if (path === "/")
        headers["set-cookie"] = `${guard.cookie.name}=${guard.cookie.value}; HttpOnly; SameSite=Strict; Path=/`;
      return asked.body(file.body, 200, headers);
    });

  app.get(HELLO_PATH, (asked) => {
    const proof = guard.prove(asked.req.query("nonce") ?? "");
    return proof === undefined ? asked.notFound() : asked.json({ proof });
  });

  app.get("/metrics", async (asked) =>
    opts.metrics ? asked.body(await opts.metrics(), 200, { "content-type": CONTENT_TYPE }) : asked.notFound(),
  );

  app.get("/api/overview", async (asked) => asked.json(await overview.now()));
  app.get("/api/live", (asked) => {
    const since = asked.req.header("last-event-id");
    return stream(asked, async function* (signal) {
      for await (const { id, message } of overview.follow(since, signal)) yield { id, data: message };
    });
  });

  app.get("/api/p/:project", async (asked) => {
    const { project, ledgers } = projectIn(asked);
    return asked.json(await projectPage(project, ledgers));
  });

  const at = "/api/p/:project/c/:context";
  app.get(at, async (asked) => {
    const { of, source, ledger } = await contextIn(asked);
    const key = { project: of.project.row.id, context: source.id };
    const [row, { needs }] = await Promise.all([overview.row(key), overview.now()]);
    if (!row) throw new NotThere("there is no such context");
    const its = needs.filter((need) => need.context === key.context && need.project === key.project);
    return asked.json(contextPage(of.project, ledger, { row, needs: its }));
  });
  app.get(`${at}/rows`, async (asked) => {
    const { source } = await sourceIn(asked);
    const { kinds, agent, text, upTo } = asked.req.query();
    return asked.json(
      await source.rows(
        {
          from: numberIn(asked, "from", 0),
          count: numberIn(asked, "count", 100),
          ...(kinds && { kinds: kinds.split(",") as RowKind[] }),
          ...(agent && { agent }),
          ...(text && { text }),
          ...(upTo && { upTo: numberIn(asked, "upTo", 0) }),
        },
        asked.req.raw.signal,
      ),
    );
  });
  app.get(`${at}/live`, async (asked) => {
    const { of, source } = await sourceIn(asked);
    const since = Number(asked.req.header("last-event-id") ?? asked.req.query("since") ?? Number.NaN);
    return stream(asked, (signal) => followContext(of.project.store, source, { since, signal }));
  });

  app.get(`${at}/event/:seq`, async (asked) => {
    const { source } = await sourceIn(asked);
    const detail = await source.detail(seqIn(asked));
    if (!detail) throw new NotThere("there is no such event");
    return asked.json(detail);
  });
  app.get(`${at}/at/:seq`, async (asked) => {
    const { source } = await sourceIn(asked);
    await source.index.advance();
    return asked.json(await source.past.at(seqUpTo(asked, source.index.head)));
  });
  app.get(`${at}/test`, async (asked) => {
    if (!opts.recordingOf) return asked.notFound();
    const { of, source } = await sourceIn(asked);
    const text = await boundedRecording(opts.recordingOf, of.project.store, source.id);
    const headers = {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${source.id}.jsonl"`,
    };
    return asked.body(text, 200, headers);
  });
  app.get(`${at}/timeline`, async (asked) => {
    const { source } = await sourceIn(asked);
    await source.index.advance();
    const { from, to } = asked.req.query();
    const range = { ...(from && { from: Number(from) }), ...(to && { to: Number(to) }) };
    return asked.json(source.spans.between({ ...range, width: numberIn(asked, "width", 1_000), now: Date.now() }));
  });
  app.get(`${at}/usage`, async (asked) => {
    const { source } = await sourceIn(asked);
    await source.index.advance();
    return asked.json(source.usage.series());
  });
  app.get(`${at}/costs`, async (asked) => {
    const { source } = await sourceIn(asked);
    await source.index.advance();
    return asked.json(source.usage.costs());
  });
  app.get(`${at}/data`, async (asked) => asked.json(await (await sourceIn(asked)).source.data()));
  app.get(`${at}/data/:key`, async (asked) => {
    const { source } = await sourceIn(asked);
    const seq = asked.req.query("seq");
    const found = await source.dataHistory(asked.req.param("key"), seq === undefined ? undefined : Number(seq));
    if (!found) throw new NotThere("there is no such key");
    return asked.json(found);
  });
  app.get(`${at}/checkpoints`, async (asked) => {
    const { of, source } = await sourceIn(asked);
    await source.index.advance();
    const { contexts } = await overview.now();
    const forks = contexts.flatMap(({ context, project, forkOf }) =>
      project === of.project.row.id && forkOf?.context === source.id ? [{ context, seq: forkOf.seq }] : [],
    );
    return asked.json(checkpointRows(await (await source.context()).checkpoints(), source.jumps, forks));
  });
  app.get(`${at}/files`, async (asked) => {
    const { source } = await sourceIn(asked);
    await source.index.advance();
    const context = await source.context();
    if (asked.req.query("at") !== undefined)
      return asked.json(await filesThen(context, source.past, numberIn(asked, "at", 0)));
    const from = numberIn(asked, "from", 0);
    const to = asked.req.query("to");
    const edits = source.past.edits.between({ after: to === undefined ? from : Number(to) });
    return asked.json(await filesChanged(context, { from, ...(to !== undefined && { to: Number(to) }), edits }));
  });
  app.get(`${at}/requests`, async (asked) => {
    const { source } = await sourceIn(asked);
    await source.index.advance();
    const { agent = "lead", upTo, count } = asked.req.query();
    const range = { ...(upTo && { upTo: Number(upTo) }), ...(count && { count: Number(count) }) };
    return asked.json(source.usage.requests(agent, range));
  });
  const requestIn = async (asked: Asked) => {
    const { source } = await sourceIn(asked);
    const round = { agent: asked.req.param("agent") ?? "", n: Number(asked.req.param("n")) };
    const found = Number.isSafeInteger(round.n) ? await source.requests.of(round) : undefined;
    if (!found) throw new NotThere("there is no such request");
    return found;
  };
  app.get(`${at}/requests/:agent/:n`, async (asked) => asked.json(await requestView(await requestIn(asked))));
  app.get(`${at}/requests/:agent/:n/body`, async (asked) => {
    const { request } = await requestIn(asked);
    // As a file: a browser that opens it shows nothing of it.
    const headers = { "content-type": "application/octet-stream", "content-disposition": "attachment" };
    return asked.body(new Uint8Array(await bodyOf(request)), 200, headers);
  });
  app.post(`${at}/act`, async (asked) => {
    const { of, source, ledger } = await contextIn(asked);
    const given: unknown = await asked.req.json().catch(() => undefined);
    const answer = await act({ source, ledger, place: of.project.place }, given);
    overview.rang(of.project.row.id, source.id);
    if (answer.context !== undefined) overview.rang(of.project.row.id, answer.context);
    return asked.json(answer);
  });
  return app;
}

/** A person looks at the answer. */
const isNavigation = ({ method, headers }: Request): boolean =>
  method === "GET" &&
  (headers.get("sec-fetch-mode") === "navigate" || (headers.get("accept") ?? "").split(/[,;]/).includes("text/html"));

/** Contract: `error` is the guard's own words: nothing of the request is in it. */
const refusedPage = (error: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Holdfast</title><h1>Holdfast</h1><p>${error}</p></html>\n`;

class NotThere extends Error {}

const TOO_LARGE = { error: `more than ${MOST_BODY / 1024} kB are not read`, code: "too_large" };
const TOO_MANY = { error: `${MOST_STREAMS} pages follow already: close one`, code: "too_many" };

/** What is shown, not what is kept as a file: that is exact. */
async function inert(answer: Response): Promise<Response> {
  const { headers, status } = answer;
  if (!headers.get("content-type")?.startsWith("application/json") || headers.has("content-disposition")) return answer;
  return new Response(inertJson(await answer.text()), { status, headers });
}

function numberIn(asked: Asked, name: string, otherwise: number): number {
  const given = Number(asked.req.query(name) ?? otherwise);
  return Number.isSafeInteger(given) ? given : otherwise;
}

function seqIn(asked: Asked): Seq {
  const given = Number(asked.req.param("seq"));
  if (!Number.isSafeInteger(given) || given < 1) throw new NotThere("an event has a number");
  return given;
}

function seqUpTo(asked: Asked, head: Seq): Seq {
  const seq = seqIn(asked);
  if (seq > head) throw new NotThere(`there is no event ${seq}: the last is ${head}`);
  return seq;
}
