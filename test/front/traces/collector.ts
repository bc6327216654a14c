// A collector for tests: an HTTP server that keeps what it is sent, and says what it is told to.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

// biome-ignore lint/suspicious/noExplicitAny: a body as it came
export type Body = any;

export interface Collector {
  readonly url: string;
  readonly requests: { path: string; headers: IncomingHttpHeaders; body: Body }[];
  /** The statuses of the next answers; then 200. */
  readonly answers: { status: number; body?: string; headers?: Record<string, string> }[];
  spans(): Body[];
  /** True: it takes requests and answers none. */
  hangs: boolean;
}

export async function startCollector(): Promise<Collector> {
  const requests: Collector["requests"] = [];
  const answers: Collector["answers"] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (collector.hangs) return;
      const { status, body = "{}", headers = {} } = answers.shift() ?? { status: 200 };
      if (status === 200) {
        const given = JSON.parse(Buffer.concat(chunks).toString("utf8"));
        requests.push({ path: request.url ?? "", headers: request.headers, body: given });
      }
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const collector: Collector = {
    ...{ requests, answers, hangs: false },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => requests.flatMap(({ body }) => spansIn(body)),
  };
  return collector;
}

export const spansIn = (body: Body): Body[] => body.resourceSpans[0].scopeSpans[0].spans;

/** Attributes as an object. */
export const said = (span: Body): Record<string, unknown> =>
  Object.fromEntries(span.attributes.map(({ key, value }: Body) => [key, Object.values(value)[0]]));
