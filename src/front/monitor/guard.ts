// Who may ask the monitor anything: the token, the name it is called by, where the request comes from. Decided before a route is looked for.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { HELLO_PATH, helloText } from "./hello.ts";

interface Refused {
  status: 401 | 403 | 421;
  error: string;
  code: "token" | "host" | "origin" | "write";
}

export interface Guard {
  /** The documents' cookie: it opens the page and its assets, which hold no data, and nothing else. */
  readonly cookie: { name: string; value: string };
  /** Contract: undefined when the request may be answered. Nothing of a request is used before. */
  refuse(request: Request): Refused | undefined;
  /** That this server knows the token, for who has it too; undefined: that is no nonce. */
  prove(nonce: string): string | undefined;
}

/** What a write carries: a form and a simple request of another page cannot send it. */
const WRITE_HEADER = "x-holdfast-write";

/** What opens with the cookie too. */
const DOCUMENTS = new Set(["/", "/app.js", "/app.css"]);
/** From a page, of its own. */
const NONCE = /^[0-9a-f]{32,128}$/;
/** What names this machine itself, whatever a name server says. */
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

export function createGuard({ token, port }: { token: string; port: () => number }): Guard {
  // Cookies do not know ports: another server on this machine sees it, and it is worth nothing there.
  const value = sha256(`page ${token}`).toString("hex");
  const name = () => `holdfast_page_${port()}`;
  return {
    get cookie() {
      return { name: name(), value };
    },
    refuse(request) {
      const url = new URL(request.url);
      const hosts = LOOPBACK.map((host) => `${host}:${port()}`);
      if (!hosts.includes(request.headers.get("host") ?? "")) return { ...OF_HOST };
      const origin = request.headers.get("origin");
      if (origin !== null && !hosts.some((host) => origin === `http://${host}`)) return { ...OF_ORIGIN };
      const site = request.headers.get("sec-fetch-site");
      const isDocument = DOCUMENTS.has(url.pathname);
      // A link from elsewhere may open the page; no other page may read or load anything of it.
      const mayNavigate = isDocument && request.headers.get("sec-fetch-mode") === "navigate";
      if (site !== null && site !== "same-origin" && site !== "none" && !mayNavigate) return { ...OF_ORIGIN };
      const isRead = request.method === "GET" || request.method === "HEAD";
      // Asked before the token is sent: it tells nothing to who does not have it.
      if (isRead && url.pathname === HELLO_PATH) return undefined;
      const given = bearerOf(request) ?? (isDocument ? url.searchParams.get("token") : null);
      const byCookie = isDocument && isSame(cookieOf(request, name()), value);
      if (!byCookie && !isSame(given, token)) return { ...OF_TOKEN };
      if (isRead) return undefined;
      const isJson = request.headers.get("content-type")?.split(";")[0]?.trim() === "application/json";
      return request.headers.get(WRITE_HEADER) === "1" && isJson ? undefined : { ...OF_WRITE };
    },
    prove: (nonce) =>
      NONCE.test(nonce) ? createHmac("sha256", token).update(helloText(port(), nonce)).digest("hex") : undefined,
  };
}

const OF_HOST: Refused = { status: 421, code: "host", error: "this address is not the monitor's" };
const OF_ORIGIN: Refused = { status: 403, code: "origin", error: "another page asks: refused" };
const OF_WRITE: Refused = { status: 403, code: "write", error: `a write needs the header ${WRITE_HEADER} and JSON` };
const OF_TOKEN: Refused = {
  ...{ status: 401, code: "token", error: "open the address that `holdfast monitor` printed: it holds the token" },
};

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Takes as long whatever is wrong with it. */
const isSame = (given: string | null | undefined, wanted: string): boolean =>
  given !== null && given !== undefined && timingSafeEqual(sha256(given), sha256(wanted));

const bearerOf = (request: Request): string | null =>
  /^Bearer ([\x21-\x7e]+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;

function cookieOf(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const [key, ...value] = pair.trim().split("=");
    if (key === name) return value.join("=");
  }
  return undefined;
}
