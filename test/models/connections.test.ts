// What stands between us and a model: proxies, certificates, web pages, packed answers, and faults that no retry mends.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import zlib from "node:zlib";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { connectionFault } from "../../src/models/http-fault.ts";
import { proxyFor } from "../../src/models/http-transport.ts";
import { openModel } from "../../src/models/open-model.ts";
import { scratch } from "../turn.ts";
import { asking, failure, reply, user } from "./asking.ts";

const servers: (http.Server | https.Server)[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: http.Server | https.Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

const answer = JSON.stringify({ choices: [{ message: { content: "here" }, finish_reason: "stop" }] });
const modelAt = (url: string, env: Record<string, string> = {}) =>
  openModel("openai-compatible/m", { env: { OPENAI_BASE_URL: url, ...env } });

test("a web page in place of an answer ends the call at once", async () => {
  const html = { "content-type": "text/html; charset=utf-8" };
  const port = await listen(http.createServer((_req, res) => res.writeHead(200, html).end("<html>sign in</html>")));
  const error = await failure(await modelAt(`http://127.0.0.1:${port}/v1`), asking([user("go")]));
  expect([error.kind, error.message]).toEqual([
    "invalid",
    `openai-compatible/m: 127.0.0.1:${port} answered with a web page: check the base URL, and whether the network wants you to sign in first`,
  ]);
});

test.each(["gzip", "deflate", "br"])("an answer packed by %s is read, as a stream too", async (encoding) => {
  const pack = { gzip: zlib.gzipSync, deflate: zlib.deflateSync, br: zlib.brotliCompressSync }[encoding]!;
  const chunk = `data: ${JSON.stringify({ choices: [{ delta: { content: "here" }, finish_reason: "stop" }] })}\n\n`;
  let asked = 0;
  const port = await listen(
    http.createServer((_req, res) => {
      const [type, body] =
        asked++ === 0 ? ["application/json", answer] : ["text/event-stream", `${chunk}data: [DONE]\n\n`];
      res.writeHead(200, { "content-type": type, "content-encoding": encoding }).end(pack(body!));
    }),
  );
  const model = await modelAt(`http://127.0.0.1:${port}/v1`);
  const said = [await reply(model, asking([user("go")])), await reply(model, asking([user("go")]))];
  expect(said.map((one) => one.answer.parts)).toEqual([
    [{ type: "text", text: "here" }],
    [{ type: "text", text: "here" }],
  ]);
});

test("a certificate of one's own is refused with what to do, and taken once SSL_CERT_FILE names it", async () => {
  const dir = scratch(onTestFinished);
  const [key, cert] = [path.join(dir, "key.pem"), path.join(dir, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject],
    { stdio: "ignore" },
  );
  const tls = { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
  const port = await listen(
    https.createServer(tls, (_req, res) => res.writeHead(200, { "content-type": "application/json" }).end(answer)),
  );
  const url = `https://localhost:${port}/v1`;
  const refused = await failure(await modelAt(url), asking([user("go")]));
  expect([refused.kind, refused.message]).toEqual([
    "invalid",
    `openai-compatible/m: the certificate of localhost:${port} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): if it is your company's own, name its file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE`,
  ]);
  const { answer: taken } = await reply(await modelAt(url, { SSL_CERT_FILE: cert }), asking([user("go")]));
  expect(taken.parts).toEqual([{ type: "text", text: "here" }]);
  await expect(modelAt(url, { SSL_CERT_FILE: `${cert}.gone` })).rejects.toThrow(
    /^SSL_CERT_FILE names .*: mend it, or unset it$/,
  );
});

test("a proxy is used for all that NO_PROXY does not name, ALL_PROXY too", async () => {
  const seen: string[] = [];
  const proxy = await listen(
    http.createServer((req, res) => {
      seen.push(req.url!);
      res.writeHead(200, { "content-type": "application/json" }).end(answer);
    }),
  );
  const direct = await listen(
    http.createServer((_req, res) => res.writeHead(200, { "content-type": "application/json" }).end(answer)),
  );
  const ask = async (url: string, env: Record<string, string>) => reply(await modelAt(url, env), asking([user("go")]));
  await ask("http://models.example/v1", { ALL_PROXY: `http://127.0.0.1:${proxy}` });
  await ask(`http://127.0.0.1:${direct}/v1`, { HTTP_PROXY: `127.0.0.1:${proxy}`, NO_PROXY: "10.0.0.0/8,127.0.0.0/8" });
  expect(seen).toEqual(["http://models.example/v1/chat/completions"]);
});

test.each([
  ["https://a.example/v1", { HTTPS_PROXY: "http://p:1" }, "http://p:1"],
  ["https://a.example/v1", { https_proxy: "p:1" }, "http://p:1"],
  ["https://a.example/v1", { HTTP_PROXY: "http://p:1" }, undefined],
  ["https://a.example/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "example" }, undefined],
  ["https://a.example/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: ".example" }, undefined],
  ["https://a.example/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "*.example" }, undefined],
  ["https://a.example/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "b.example, xa.example" }, "http://p:1"],
  ["https://a.example:8443/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "a.example:443" }, "http://p:1"],
  ["https://a.example:8443/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "a.example:8443" }, undefined],
  ["http://10.1.2.3/v1", { ALL_PROXY: "http://p:1", no_proxy: "10.0.0.0/8" }, undefined],
  ["http://11.1.2.3/v1", { ALL_PROXY: "http://p:1", no_proxy: "10.0.0.0/8" }, "http://p:1"],
  ["http://[fd00::1]:8000/v1", { ALL_PROXY: "http://p:1", NO_PROXY: "fd00::/8" }, undefined],
  ["http://[::1]:8000/v1", { ALL_PROXY: "http://p:1", NO_PROXY: "::1" }, undefined],
  ["http://10.1.2.3/v1", { ALL_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/99,nonsense/8" }, "http://p:1"],
  ["http://a.example/v1", { ALL_PROXY: "http://p:1", NO_PROXY: "*" }, undefined],
])("%s with %o goes through %s", (url, env, proxy) => {
  expect(proxyFor(new URL(url), env)).toBe(proxy);
});

test("what a proxy does wrong is said of the proxy, by the variable that names it; what stays wrong ends at once", async () => {
  const status = { value: 407 };
  const gate = http.createServer((_req, res) => res.writeHead(status.value).end("no"));
  gate.on("connect", (_req, socket) => socket.end(`HTTP/1.1 ${status.value} No\r\n\r\n`));
  const port = await listen(gate);
  const proxy = `127.0.0.1:${port}`;
  const wrong = async (url: string, env: Record<string, string>) => {
    const { kind, message } = await failure(await modelAt(url, env), asking([user("go")]));
    return [kind, message.replace("openai-compatible/m: ", "")];
  };
  const password = (variable: string) =>
    `the proxy ${proxy} (${variable}) wants a user and a password (407): write them into it, as in ${variable}=http://user:password@${proxy}`;
  const through = { HTTPS_PROXY: `http://me:secret@${proxy}` };
  expect(await wrong("https://models.example/v1", through)).toEqual(["invalid", password("HTTPS_PROXY")]);
  expect(await wrong("http://models.example/v1", { http_proxy: proxy })).toEqual(["invalid", password("http_proxy")]);
  status.value = 403;
  expect(await wrong("https://models.example/v1", through)).toEqual([
    "invalid",
    `the proxy ${proxy} (HTTPS_PROXY) does not connect to models.example (403): mend HTTPS_PROXY, or name models.example in NO_PROXY to go without`,
  ]);
  status.value = 503;
  expect(await wrong("https://models.example/v1", through)).toEqual([
    "network",
    `the proxy ${proxy} (HTTPS_PROXY) does not connect to models.example (503)`,
  ]);
  gate.close();
  gate.closeAllConnections();
  for (const [url, variable] of [
    ["https://localhost:9/v1", "HTTPS_PROXY"],
    ["http://localhost:9/v1", "ALL_PROXY"],
  ] as const)
    expect(await wrong(url, { [variable]: `http://${proxy}` })).toEqual([
      "invalid",
      `nothing listens at the proxy ${proxy} (${variable}): start it, mend ${variable}, or name localhost in NO_PROXY to go without`,
    ]);
  const missing = Object.assign(new Error("no such host"), { code: "ENOTFOUND" });
  const gone = { hasAnswered: false, proxy: { host: "proxy.invalid:3128", variable: "HTTPS_PROXY" } };
  expect(connectionFault(missing, new URL("https://models.example/v1"), gone)).toEqual({
    kind: "invalid",
    message:
      "there is no host proxy.invalid:3128, which HTTPS_PROXY names as the proxy: mend HTTPS_PROXY, or name models.example in NO_PROXY to go without",
  });
});

test("a proxy that does not speak HTTP is said, not passed by", () => {
  expect(() => proxyFor(new URL("https://a.example"), { ALL_PROXY: "socks5://p:1" })).toThrow(
    'the proxy "socks5://p:1" is not one of HTTP: set HTTPS_PROXY to an address that starts with http://, or name a.example in NO_PROXY',
  );
});

test.each([
  [
    "http://127.0.0.1:11434/v1",
    "ECONNREFUSED",
    false,
    "invalid",
    "nothing listens on 127.0.0.1:11434: is `ollama serve` running?",
  ],
  ["http://127.0.0.1:11434/v1", "ECONNREFUSED", true, "network", "cannot reach 127.0.0.1:11434 (ECONNREFUSED)"],
  ["http://10.0.0.9:80/v1", "ECONNREFUSED", false, "network", "cannot reach 10.0.0.9 (ECONNREFUSED)"],
  [
    "https://api.exmaple/v1",
    "ENOTFOUND",
    false,
    "invalid",
    "there is no host api.exmaple: check the base URL, and that you are online",
  ],
  ["https://api.example/v1", "ENOTFOUND", true, "network", "cannot reach api.example (ENOTFOUND)"],
  ["https://api.example/v1", "EAI_AGAIN", false, "network", "cannot reach api.example (EAI_AGAIN)"],
  [
    "https://127.0.0.1:8000/v1",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    false,
    "invalid",
    "127.0.0.1:8000 does not speak https (ERR_SSL_WRONG_VERSION_NUMBER): check the base URL",
  ],
] as const)("%s, %s, answered before: %s", (url, code, hasAnswered, kind, message) => {
  const error = Object.assign(new Error("x"), { code });
  expect(connectionFault(error, new URL(url), { hasAnswered })).toEqual({ kind, message });
});
