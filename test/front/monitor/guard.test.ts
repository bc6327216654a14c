// Who may ask the monitor: nobody without the token, by another name, or from another page.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { newId } from "../../../src/ledger/id.ts";
import { makeLongContext } from "./long-context.ts";
import { openMonitor, openWorld, TOKEN } from "./monitor.ts";
import { bearer, send, writing } from "./raw-http.ts";

const DOCUMENTS = ["/", "/app.js", "/app.css"];
/** Where a page asks whose server it is, before it says the token. */
const HELLO = "/api/hello";

async function open() {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 200 });
  const monitor = await openMonitor(store, { root });
  const named = { project: "p", context, seq: "7", key: "finding%205", agent: "lead", n: "1" };
  // From the app itself: a route that comes to it is tried like the others.
  const own = monitor.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ path }) => path.replaceAll(/:(\w+)/g, (_, name: keyof typeof named) => named[name] ?? "1"));
  const routes = [...new Set([...own, "/nowhere", "/api", "/%2e%2e/etc/passwd", "//evil.example/"])];
  expect(routes.length).toBeGreaterThan(20);
  return { monitor, context, at: `/api/p/p/c/${context}`, routes };
}

test("no route answers without the token, with a wrong one, or with one in the wrong place", async () => {
  const { monitor, routes } = await open();
  const tries: Record<string, string>[] = [
    {},
    { authorization: `Bearer ${"0".repeat(64)}` },
    { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
    { authorization: `Bearer ${TOKEN} ${TOKEN}` },
    { authorization: TOKEN },
    { authorization: `Basic ${TOKEN}` },
    { cookie: `token=${TOKEN}; holdfast_page_${monitor.port}=${TOKEN}` },
    { "x-holdfast-write": "1", "content-type": "application/json" },
  ];
  for (const path of routes)
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
      for (const headers of tries) {
        if (path === HELLO && (method === "GET" || method === "HEAD")) continue;
        const { status, text } = await send(monitor, { method, path, headers });
        expect([method, path, headers, status]).toEqual([method, path, headers, 401]);
        expect(text).not.toMatch(/[<>]/);
      }
});

test("a token in an address opens the page and nothing that holds data", async () => {
  const { monitor, routes: all } = await open();
  const routes = all.filter((path) => path !== HELLO);
  for (const path of routes.filter((one) => !DOCUMENTS.includes(one)))
    expect([path, (await send(monitor, { path: `${path}?token=${TOKEN}` })).status]).toEqual([path, 401]);
  const first = await send(monitor, { path: `/?token=${TOKEN}` });
  expect([first.status, first.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  const [set = ""] = first.headers["set-cookie"] ?? [];
  expect(set).toMatch(new RegExp(`^holdfast_page_${monitor.port}=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=/$`));
  expect(set).not.toContain(TOKEN);
  const cookie = set.split(";")[0]!;
  for (const path of ["/", "/app.js", "/app.css"])
    expect((await send(monitor, { path, headers: { cookie } })).status).toBe(200);
  for (const path of routes.filter((one) => !DOCUMENTS.includes(one)))
    expect([path, (await send(monitor, { path, headers: { cookie } })).status]).toEqual([path, 401]);
});

test("the server proves that it knows the token, for this port and that nonce, and says nothing else", async () => {
  const { monitor } = await open();
  const { port } = monitor;
  const nonce = "0123456789abcdef".repeat(2);
  const { status, text } = await send(monitor, { path: `${HELLO}?nonce=${nonce}` });
  const proof = createHmac("sha256", TOKEN).update(`holdfast monitor hello ${port} ${nonce}`).digest("hex");
  expect([status, JSON.parse(text)]).toEqual([200, { proof }]);
  for (const wrong of ["", "?nonce=", "?nonce=abc", `?nonce=${nonce.toUpperCase()}`, `?nonce=${"0".repeat(200)}`])
    expect([wrong, (await send(monitor, { path: HELLO + wrong })).status]).toEqual([wrong, 404]);
  const elsewhere = { host: `127.0.0.1:${port}`, origin: "https://evil.example" };
  expect((await send(monitor, { path: `${HELLO}?nonce=${nonce}`, headers: elsewhere })).status).toBe(403);
});

test("another name for this machine is refused, whoever sends it: names of other sites may lead here", async () => {
  const { monitor, routes } = await open();
  const { port } = monitor;
  const names = [
    ...["evil.example", `evil.example:${port}`, "127.0.0.1", "localhost", `127.0.0.1:${port + 1}`],
    ...[`127.0.0.1.evil.example:${port}`, `127.0.0.1.nip.io:${port}`, `localhost.evil.example:${port}`],
    ...[
      `0.0.0.0:${port}`,
      `127.0.0.2:${port}`,
      `localhost.:${port}`,
      `2130706433:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
    ],
  ];
  for (const host of names)
    for (const path of [...routes, `/?token=${TOKEN}`]) {
      const { status } = await send(monitor, { path, headers: { host, ...bearer } });
      expect([host, path, status === 421 || status === 400]).toEqual([host, path, true]);
    }
  for (const host of [`localhost:${port}`, `[::1]:${port}`])
    expect((await send(monitor, { path: "/api/overview", headers: { host, ...bearer } })).status).toBe(200);
});

test("another page is refused, also with the token: nothing allows its origin", async () => {
  const { monitor, at, routes } = await open();
  const { port } = monitor;
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: `https://127.0.0.1:${port}` },
    { origin: `http://127.0.0.1:${port}.evil.example` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
  ];
  for (const headers of foreign)
    for (const path of routes)
      for (const method of ["GET", "POST"]) {
        const refused = await send(monitor, { method, path, headers: { ...writing, ...headers } });
        expect([headers, path, refused.status]).toEqual([headers, path, 403]);
        expect(refused.headers["access-control-allow-origin"]).toBeUndefined();
      }
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
  const preflight = await send(monitor, {
    ...{ method: "OPTIONS", path: `${at}/act` },
    headers: { origin: "https://evil.example", ...asked },
  });
  expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
});

test("a link from elsewhere opens the page, and nothing but the page", async () => {
  const { monitor, routes } = await open();
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  expect((await send(monitor, { path: `/?token=${TOKEN}`, headers: link })).status).toBe(200);
  for (const path of routes.filter((one) => !DOCUMENTS.includes(one)))
    expect([path, (await send(monitor, { path, headers: { ...link, ...bearer } })).status]).toEqual([path, 403]);
  const own = { origin: `http://127.0.0.1:${monitor.port}`, "sec-fetch-site": "same-origin", ...bearer };
  expect((await send(monitor, { path: "/api/overview", headers: own })).status).toBe(200);
});

test("a write needs its own header and JSON, and a wrong one changes nothing", async () => {
  const { monitor, at } = await open();
  const path = `${at}/act`;
  const body = JSON.stringify({ action: "fork", seq: 7 });
  const own = { ...bearer, "x-holdfast-write": "1" };
  const refused: Record<string, string>[] = [
    { ...bearer, "content-type": "application/json" },
    { ...bearer, "x-holdfast-write": "0", "content-type": "application/json" },
    own,
    { ...own, "content-type": "text/plain" },
    { ...own, "content-type": "text/plain; application/json" },
    { ...own, "content-type": "application/x-www-form-urlencoded" },
    { ...own, "content-type": "multipart/form-data; boundary=x" },
  ];
  for (const headers of refused)
    expect([headers, (await send(monitor, { method: "POST", path, body, headers })).status]).toEqual([headers, 403]);
  const wrong = [
    ...["{", "", "[]", "null", '"fork"', '{"action":"rm"}', '{"action":"__proto__"}', '{"action":"fork"}'],
    ...['{"action":"fork","seq":-1}', '{"action":"fork","seq":1e99}', '{"action":"fork","seq":"7"}'],
    ...['{"action":"approve","id":"x","scope":"all"}', '{"action":"approve","id":"__proto__","scope":"once"}'],
    ...['{"action":"approve","id":{},"scope":"once"}', '{"action":"send","to":"","text":"x"}'],
    ...['{"action":"send","to":"nobody","text":"x"}', '{"action":"plan","id":"__proto__","approve":true}'],
    ...['{"action":"plan","id":"constructor","approve":true}', '{"action":"restore","seq":3,"parts":{}}'],
    JSON.stringify({ action: "send", to: "lead", text: "x".repeat(30_000) }),
  ];
  for (const text of wrong) {
    const answer = await send(monitor, { method: "POST", path, body: text, headers: writing });
    expect([text.slice(0, 80), answer.status, JSON.parse(answer.text).ok]).toEqual([text.slice(0, 80), 200, false]);
  }
  const { head } = await monitor.json<{ head: number }>(`${at}/rows?count=1`);
  expect(head).toBe(200);
  expect((await monitor.json<{ contexts: unknown[] }>("/api/overview")).contexts).toHaveLength(1);
  const nowhere = `/api/p/p/c/${newId("ctx")}/act`;
  expect((await send(monitor, { method: "POST", path: nowhere, body, headers: writing })).status).toBe(404);
});

test("only reads are read, and only what is written to is written", async () => {
  const { monitor, routes } = await open();
  for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
    for (const path of routes) {
      const { status } = await send(monitor, { method, path, headers: writing });
      expect([method, path, status]).toEqual([method, path, 404]);
    }
  for (const path of routes.filter((one) => !one.endsWith("/act")))
    expect([path, (await send(monitor, { method: "POST", path, headers: writing })).status]).toEqual([path, 404]);
});

test("every answer forbids scripts of others, frames, guessing of types, and keeping: also errors", async () => {
  const { monitor, at, routes } = await open();
  const { port } = monitor;
  const tries: Parameters<typeof send>[1][] = [
    ...routes.map((path) => ({ path, headers: bearer })),
    ...routes.map((path) => ({ path })),
    ...routes.map((path) => ({ path, method: "HEAD", headers: bearer })),
    { path: `${at}/rows`, headers: { host: `evil.example:${port}` } },
    { path: `${at}/rows`, headers: { host: "evil example" } },
    { path: `${at}/act`, method: "POST", body: "x".repeat(300_000), headers: writing },
    { path: `/${"x".repeat(20_000)}` },
    { path: "/\\..\\..\\etc\\passwd", headers: bearer },
  ];
  for (const one of tries) {
    const { status, headers } = await send(monitor, one);
    const names = ["x-content-type-options", "x-frame-options", "referrer-policy", "cache-control"];
    const asked = [one.method, one.path.slice(0, 80), status];
    expect([...asked, names.map((name) => headers[name])]).toEqual([
      ...asked,
      ["nosniff", "DENY", "no-referrer", "no-store"],
    ]);
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
    expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
    expect(headers["content-security-policy"]).toContain("require-trusted-types-for 'script'");
  }
});

test("a person who opens the page without the token reads why; programs get the same as JSON", async () => {
  const { store, root } = await openWorld();
  const monitor = await openMonitor(store, { root });
  const words = "open the address that `holdfast monitor` printed: it holds the token";
  const navigation = { "sec-fetch-mode": "navigate", accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const shown = await send(monitor, { path: "/?token=<b>x", headers: navigation });
  expect([shown.status, shown.headers["content-type"], shown.text]).toEqual([
    401,
    "text/html; charset=UTF-8",
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Holdfast</title><h1>Holdfast</h1><p>${words}</p></html>\n`,
  ]);
  expect(shown.headers["content-security-policy"]).toContain("default-src 'none'");
  const asked = await send(monitor, { path: "/", headers: { accept: "*/*" } });
  expect([asked.status, JSON.parse(asked.text)]).toEqual([401, { error: words, code: "token" }]);
});
