// Requests as they stand on the wire: fetch would not send such headers, nor such paths.
import http from "node:http";
import { TOKEN } from "./monitor.ts";

export interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Got {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** The token where it belongs. */
export const bearer = { authorization: `Bearer ${TOKEN}` };
/** What a write carries. */
export const writing = { ...bearer, "content-type": "application/json", "x-holdfast-write": "1" };

/** Contract: the first bytes of a stream are enough of it. */
export const send = ({ port }: { port: number }, { method = "GET", path, headers = {}, body }: Sent): Promise<Got> =>
  new Promise((resolve, reject) => {
    const own = { host: `127.0.0.1:${port}`, ...headers };
    const request = http.request({ host: "127.0.0.1", port, method, path, headers: own, agent: false });
    request.on("error", reject).on("response", (response) => {
      let text = "";
      const done = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      const isStream = response.headers["content-type"] === "text/event-stream";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (!isStream) return;
        done();
        response.destroy();
      });
      response.on("end", done).on("error", done);
    });
    request.end(body);
  });
