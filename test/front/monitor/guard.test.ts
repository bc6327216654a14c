// Who may ask the monitor: nobody without the token, by another name, or from another page.
import http from "node:http";
import { expect, test } from "vitest";
import { newId } from "../../../src/ledger/id.ts";
import { makeLongContext } from "./long-context.ts";
import { openMonitor, openWorld, type TestMonitor, TOKEN } from "./monitor.ts";

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** As it stands: fetch would not send such headers. */
const send = ({ port }: TestMonitor, { method = "GET", path, headers = {}, body }: Sent) =>
  new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const request = http.request({
      host: "127.0.0.1",
      port,
      method,
      path,
      headers: { host: `127.0.0.1:${port}`, ...headers },
    });
    request.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.end(body);
  });

const bearer = { authorization: `Bearer ${TOKEN}` };

async function open() {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 200 });
  const monitor = await openMonitor(store, { root });
  const at = `/api/p/p/c/${context}`;
  const routes = [
    ...["/", "/app.js", "/app.css", "/charts.js", "/metrics", "/api/overview", "/api/live", "/api/p/p", at],
    ...["rows", "live", "event/3", "at/3", "timeline", "usage", "costs", "data", "data/finding", "checkpoints"].map(
      (one) => `${at}/${one}`,
    ),
    ...["files?from=6", "requests", "requests/lead/1", "requests/lead/1/body", "as-test", "act"].map(
      (one) => `${at}/${one}`,
    ),
    ...["/nowhere", "/api", "/%2e%2e/etc/passwd", "//evil.example/"],
  ];
  return { monitor, context, at, routes };
}

test("no route answers without the token, with a wrong one, or with one in the wrong place", async () => {
  const { monitor, routes, at } = await open();
  const tries: Record<string, string>[] = [
    {},
    { authorization: `Bearer ${"0".repeat(64)}` },
    { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
    { authorization: TOKEN },
    { authorization: `Basic ${TOKEN}` },
    { cookie: `token=${TOKEN}` },
  ];
  for (const path of routes)
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
      for (const headers of tries) {
        const { status, text } = await send(monitor, { method, path, headers });
        expect([method, path, headers, status]).toEqual([method, path, headers, 401]);
        expect(text).not.toContain("<");
      }
  expect((await send(monitor, { path: `${at}/rows?token=${TOKEN}` })).status).toBe(401);
});

test("the address with the token gives the page, and its cookie opens the page again and nothing that holds data", async () => {
  const { monitor, routes } = await open();
  const first = await send(monitor, { path: `/?token=${TOKEN}` });
  expect([first.status, first.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  const [set = ""] = first.headers["set-cookie"] ?? [];
  expect(set).toMatch(new RegExp(`^holdfast_page_${monitor.port}=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=/$`));
  expect(set).not.toContain(TOKEN);
  const cookie = set.split(";")[0]!;
  for (const path of ["/", "/app.js", "/app.css"])
    expect((await send(monitor, { path, headers: { cookie } })).status).toBe(200);
  for (const path of routes.filter((one) => !["/", "/app.js", "/app.css", "/charts.js"].includes(one)))
    expect([path, (await send(monitor, { path, headers: { cookie } })).status]).toEqual([path, 401]);
});

test("another name for this machine is refused, whoever sends it: names of other sites may lead here", async () => {
  const { monitor, routes } = await open();
  const { port } = monitor;
  const names = [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1",
    `127.0.0.1:${port + 1}`,
    `127.0.0.1.evil.example:${port}`,
    `0.0.0.0:${port}`,
  ];
  for (const host of names)
    for (const path of routes) {
      const { status } = await send(monitor, { path, headers: { host, ...bearer } });
      expect([host, path, status]).toEqual([host, path, 421]);
    }
  for (const host of [`localhost:${port}`, `[::1]:${port}`])
    expect((await send(monitor, { path: "/api/overview", headers: { host, ...bearer } })).status).toBe(200);
});

test("another page is refused, also with the token: nothing allows its origin", async () => {
  const { monitor, at } = await open();
  const { port } = monitor;
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: `https://127.0.0.1:${port}` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
  ];
  for (const headers of foreign)
    for (const path of [`${at}/rows`, "/api/live", "/metrics"]) {
      const refused = await send(monitor, { path, headers: { ...headers, ...bearer } });
      expect([headers, path, refused.status]).toEqual([headers, path, 403]);
      expect(refused.headers["access-control-allow-origin"]).toBeUndefined();
    }
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
  const preflight = await send(monitor, {
    method: "OPTIONS",
    path: `${at}/act`,
    headers: { origin: "https://evil.example", ...asked },
  });
  expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  expect((await send(monitor, { path: `/?token=${TOKEN}`, headers: link })).status).toBe(200);
  expect(
    (await send(monitor, { path: "/api/overview", headers: { origin: `http://127.0.0.1:${port}`, ...bearer } })).status,
  ).toBe(200);
});

test("a write needs its own header and JSON, and a wrong one changes nothing", async () => {
  const { monitor, at, context } = await open();
  const path = `${at}/act`;
  const body = JSON.stringify({ action: "fork", seq: 7 });
  const json = { "content-type": "application/json" };
  const own = { "x-holdfast-write": "1" };
  const refused: Record<string, string>[] = [
    json,
    own,
    { ...own, "content-type": "text/plain" },
    { ...own, "content-type": "application/x-www-form-urlencoded" },
  ];
  for (const headers of refused)
    expect([
      headers,
      (await send(monitor, { method: "POST", path, body, headers: { ...headers, ...bearer } })).status,
    ]).toEqual([headers, 403]);
  const wrong = [
    "{",
    "[]",
    "null",
    '{"action":"rm"}',
    '{"action":"fork"}',
    '{"action":"fork","seq":-1}',
    '{"action":"approve","id":"x","scope":"all"}',
    '{"action":"send","to":"","text":"x"}',
  ];
  for (const text of wrong) {
    const answer = await send(monitor, { method: "POST", path, body: text, headers: { ...json, ...own, ...bearer } });
    expect([text, answer.status, JSON.parse(answer.text).ok]).toEqual([text, 409, false]);
  }
  const { head } = await monitor.json<{ head: number }>(`${at}/rows?count=1`);
  expect(head).toBe(200);
  expect((await monitor.json<{ contexts: unknown[] }>("/api/overview")).contexts).toHaveLength(1);
  expect(
    (
      await send(monitor, {
        method: "POST",
        path: `/api/p/p/c/${newId("ctx")}/act`,
        body,
        headers: { ...json, ...own, ...bearer },
      })
    ).status,
  ).toBe(404);
  expect(context).toMatch(/^ctx_/);
});

test("every answer forbids scripts of others, frames, guessing of types, and keeping", async () => {
  const { monitor, at } = await open();
  for (const path of [`/?token=${TOKEN}`, "/app.js", `${at}/rows`, "/api/nowhere", "/api/live"]) {
    const ends = new AbortController();
    const { headers } = await fetch(monitor.url + path, { headers: bearer, signal: ends.signal });
    ends.abort();
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
    expect(headers.get("content-security-policy")).not.toMatch(/unsafe|\*|https?:/);
    expect(
      ["x-content-type-options", "x-frame-options", "referrer-policy", "cache-control"].map((name) =>
        headers.get(name),
      ),
    ).toEqual([...["nosniff", "DENY", "no-referrer", "no-store"]]);
  }
});
