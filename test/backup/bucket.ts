// A real S3 server on a port and in a folder of its own, and a front before it that answers 412 or 503, or cuts connections.
import http from "node:http";
import type { AddressInfo } from "node:net";
import S3rver from "@20minutes/s3rver";
import { type AfterTest, folder } from "./world.ts";

/** What the front does with a request. `cut before`: it does not arrive; `cut after`: it is carried out, and nobody hears of it. */
type Fault = "pass" | "cut before" | "cut after" | number;

export interface Bucket {
  url: string;
  /** The variables of the client. */
  env: Record<string, string>;
  /** Where the server keeps its files. */
  dir: string;
  /** Asked for every request. */
  fault: (method: string, path: string) => Fault;
  requests: { method: string; path: string; bytes: number }[];
}

export async function startBucket(after: AfterTest): Promise<Bucket> {
  const dir = folder(after);
  const server = new S3rver({
    ...{ address: "127.0.0.1", port: 0, silent: true, directory: dir, vhostBuckets: false },
    // It signs the address of a bucket without the slash at its end that S3 itself signs: its lists would be refused.
    allowMismatchedSignatures: true,
    configureBuckets: [{ name: "backups" }],
  });
  const { port } = await server.run();
  after(() => server.close());
  const bucket: Bucket = { url: "s3://backups/some/where", env: {}, dir, fault: () => "pass", requests: [] };
  const front = http.createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    const fault = bucket.fault(method, url);
    bucket.requests.push({ method, path: url, bytes: Number(headers["content-length"] ?? 0) });
    if (fault === "cut before") return void request.socket.destroy();
    if (typeof fault === "number") {
      request.resume();
      response.writeHead(fault, { "content-type": "application/xml" });
      return void response.end("<Error><Code>Fault</Code><Message>a fault of the test</Message></Error>");
    }
    const list = method === "GET" && url.includes("list-type=2");
    const target = list ? asOlderList(url) : url;
    const behind = http.request({ host: "127.0.0.1", port, method, path: target, headers }, (answer) => {
      if (fault === "cut after") {
        answer.resume();
        return void answer.on("end", () => request.socket.destroy());
      }
      if (list && answer.statusCode === 200) return void sendPage(answer, response);
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    behind.on("error", () => request.socket.destroy());
    request.pipe(behind);
  });
  await new Promise<void>((done) => front.listen(0, "127.0.0.1", done));
  after(
    () =>
      new Promise<void>((done) => {
        front.close(() => done());
        front.closeAllConnections();
      }),
  );
  bucket.env = {
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
  };
  return bucket;
}

/** The server makes the tokens of its pages with a cipher that Node no longer has: it is asked as in older days. */
function asOlderList(url: string): string {
  const wanted = new URL(url, "http://front");
  const token = wanted.searchParams.get("continuation-token");
  for (const name of ["list-type", "continuation-token"]) wanted.searchParams.delete(name);
  if (token !== null) wanted.searchParams.set("marker", token);
  return wanted.pathname + wanted.search;
}

async function sendPage(answer: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of answer) text += chunk;
  const last = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].at(-1)?.[1];
  const next = `<NextContinuationToken>${last}</NextContinuationToken></ListBucketResult>`;
  const page = text.includes("<IsTruncated>true") ? text.replace("</ListBucketResult>", next) : text;
  response.writeHead(200, { "content-type": "application/xml" });
  response.end(page);
}
