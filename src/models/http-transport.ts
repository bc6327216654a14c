// How a host is reached: directly or through a proxy, and which certificates are trusted. Connections are kept and shared.
import type http from "node:http";
import type https from "node:https";
import { HoldfastError } from "../ledger/error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Transport {
  request: typeof http.request;
  agent: http.Agent;
  /** What stands between, where something does. */
  proxy?: NamedProxy;
}

export interface NamedProxy {
  /** As a person would find it, without what it is entered by. */
  host: string;
  /** The variable that names it. */
  variable: string;
}

const agents = new Map<string, http.Agent>();

export function transportFor(url: URL, env: Environment): Transport {
  const isSecure = url.protocol === "https:";
  // Asked for by name: an ES import of node:http also loads everything that only fetch needs, and TLS is not for local models.
  const module = process.getBuiltinModule(isSecure ? "node:https" : "node:http") as typeof http | typeof https;
  const found = foundProxy(url, env);
  const proxy = found?.address;
  const certificates = isSecure ? of(env, "SSL_CERT_FILE") : undefined;
  const key = JSON.stringify([url.protocol, proxy, certificates]);
  let agent = agents.get(key);
  if (!agent) {
    agent = new module.Agent({
      keepAlive: true,
      // Node reads one variable for each kind of address; which one applies was decided above.
      ...(proxy && { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
      ...(certificates && { ca: trusted(certificates) }),
    });
    agents.set(key, agent);
  }
  const { variable } = found ?? {};
  return { request: module.request, agent, ...(proxy && variable && { proxy: { host: hostOf(proxy), variable } }) };
}

/** In capitals or not, as users write them; an empty one is none. */
const of = (env: Environment, name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;

export const proxyFor = (url: URL, env: Environment): string | undefined => foundProxy(url, env)?.address;

function hostOf(proxy: string): string {
  try {
    return new URL(proxy).host;
  } catch {
    return proxy.replace(/^.*@/, "");
  }
}

function foundProxy(url: URL, env: Environment): { address: string; variable: string } | undefined {
  const names = [url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY", "ALL_PROXY"];
  const variable = names.flatMap((name) => [name.toLowerCase(), name]).find((name) => env[name]);
  const given = variable === undefined ? undefined : env[variable];
  if (variable === undefined || given === undefined) return undefined;
  if (isExcepted(url, of(env, "NO_PROXY") ?? "")) return undefined;
  const proxy = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  if (/^https?:\/\//i.test(proxy)) return { address: proxy, variable };
  throw new HoldfastError(
    "invalid",
    `the proxy "${given}" is not one of HTTP: set HTTPS_PROXY to an address that starts with http://, or name ${url.hostname} in NO_PROXY`,
  );
}

/** A list of hosts, of domains with or without a leading dot, of addresses and of ranges of them; `*` is everything. */
function isExcepted(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== "" && matches(entry, { host, port }));
}

function matches(entry: string, { host, port }: { host: string; port: string }): boolean {
  if (entry === "*") return true;
  const net = process.getBuiltinModule("node:net");
  if (entry.includes("/")) return isInRange(net, host, entry);
  const [, name = "", onlyPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(net.isIPv6(entry) ? `[${entry}]` : entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const domain = name.replace(/^\*?\./, "");
  return host === domain || (net.isIP(host) === 0 && host.endsWith(`.${domain}`));
}

function isInRange(net: typeof import("node:net"), host: string, range: string): boolean {
  const [base = "", bits = ""] = range.split("/");
  const family = net.isIPv6(base) ? "ipv6" : "ipv4";
  const most = family === "ipv6" ? 128 : 32;
  if (!net.isIP(base) || !/^\d{1,3}$/.test(bits) || Number(bits) > most) return false;
  if (net.isIP(host) !== (family === "ipv6" ? 6 : 4)) return false;
  const list = new net.BlockList();
  list.addSubnet(base, Number(bits), family);
  return list.check(host, family);
}

/** The machine's usual authorities, and those of that file. */
function trusted(file: string): string[] {
  const tls = process.getBuiltinModule("node:tls");
  try {
    return [...tls.getCACertificates("default"), process.getBuiltinModule("node:fs").readFileSync(file, "utf8")];
  } catch (cause) {
    throw new HoldfastError("invalid", `SSL_CERT_FILE names ${file}, which cannot be read: mend it, or unset it`, {
      cause,
    });
  }
}
