// The address of a Redis store: what stands in its URL, and how it is shown without its password.
import { readFileSync } from "node:fs";
import { HoldfastError } from "../error.ts";
import { checkCredentials, notAnAddress } from "../server-address.ts";

export interface Endpoint {
  host: string;
  port: number;
}

export interface RedisAddress {
  /** The server itself, or the Sentinels that know where it is. */
  endpoints: Endpoint[];
  /** What the Sentinels call it. */
  sentinelName?: string;
  database: number;
  username?: string;
  password?: string;
  /** Of the Sentinels, where they have one of their own. */
  sentinelPassword?: string;
  /** The certificates to trust, or "system". */
  tls?: { ca?: Buffer };
  project: string;
  /** How many replicas confirm each write; undefined: as many as the server is found with. */
  replicas?: number;
  /** Without user and password. */
  shown: string;
}

const FORM = /^(rediss?)(\+sentinel)?:\/\/(?:([^@/?]*)@)?([^/?]*)(\/[^?]*)?(?:\?(.*))?$/;
const SETTINGS = ["project", "replicas", "ca", "sentinel-password"];
const PORT = 6379;
const SENTINEL_PORT = 26379;
const MOST_PORT = 65_535;

/** Contract: an error never shows what was given, which may hold a password. */
export function parseRedisUrl(url: string): RedisAddress {
  checkCredentials(url);
  const match = FORM.exec(url);
  if (!match) throw notAnAddress("its form");
  const [, scheme = "", sentinel = "", user, hosts = "", path = "/", query = ""] = match;
  const settings = new URLSearchParams(query);
  for (const name of settings.keys()) {
    if (!SETTINGS.includes(name)) throw notAnAddress(`it has a setting other than ${SETTINGS.join(", ")}`);
    if (settings.getAll(name).length > 1) throw notAnAddress(`${name}= stands in it twice`);
  }
  const endpoints = hosts.split(",").map((one) => endpointOf(one, sentinel ? SENTINEL_PORT : PORT));
  if (!sentinel && endpoints.length > 1) throw notAnAddress("it names several servers");
  const project = settings.get("project");
  if (!project || /[{}\s]/.test(project) || project.length > 100)
    throw notAnAddress("project=NAME is missing, too long, or has a brace or a space");
  const { database, sentinelName } = placeOf(path.slice(1), sentinel !== "");
  const shownPath = path === "/" ? "" : path;
  const replicas = settings.get("replicas");
  if (replicas !== null && !/^\d{1,2}$/.test(replicas)) throw notAnAddress("replicas=N is a number");
  const ca = settings.get("ca");
  if (ca !== null && scheme !== "rediss")
    throw notAnAddress("ca=FILE is for TLS, and redis:// has none: write rediss://");
  const sentinelPassword = settings.get("sentinel-password");
  return {
    endpoints,
    database,
    project,
    shown: `${scheme}${sentinel}://${hosts}${shownPath}?project=${project}`,
    ...(sentinelName !== undefined && { sentinelName }),
    ...credentials(user),
    ...(sentinelPassword !== null && { sentinelPassword }),
    ...(scheme === "rediss" && { tls: ca === null ? {} : { ca: certificates(ca) } }),
    ...(replicas !== null && { replicas: Number(replicas) }),
  };
}

/** What somebody between here and the server could make use of. Contract: nothing of a server of this machine's own. */
export function exposureOf({ endpoints, password, tls }: RedisAddress): string[] {
  if (endpoints.every(({ host }) => LOOPBACK.test(host))) return [];
  return [
    ...(password === undefined ? ["it is asked without a password"] : []),
    ...(tls === undefined ? ["what is said to it is not encrypted"] : []),
  ];
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

function endpointOf(text: string, port: number): Endpoint {
  const match = /^(\[[0-9a-f:.]+\]|[\p{L}\p{N}._-]+)(?::(\d{1,5}))?$/iu.exec(text);
  if (!match?.[1]) throw notAnAddress("a host is missing or not understood");
  const host = match[1].replace(/^\[|\]$/g, "");
  const given = match[2] === undefined ? port : Number(match[2]);
  if (given < 1 || given > MOST_PORT) throw notAnAddress(`a port is a number from 1 to ${MOST_PORT}`);
  return { host, port: given };
}

/** `DATABASE`, or for Sentinels `SERVICE` or `SERVICE/DATABASE`. */
function placeOf(path: string, isSentinel: boolean): { database: number; sentinelName?: string } {
  const [service, number = ""] = isSentinel ? path.split("/") : [undefined, path];
  if (isSentinel && !service) throw notAnAddress("the name that the Sentinels know is missing");
  if (number !== "" && !/^\d{1,5}$/.test(number)) throw notAnAddress("the database is a number");
  return { database: Number(number || 0), ...(service !== undefined && { sentinelName: decoded(service) }) };
}

function credentials(text: string | undefined): Pick<RedisAddress, "username" | "password"> {
  if (!text) return {};
  const at = text.indexOf(":");
  const [username, password] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
  return {
    ...(username && { username: decoded(username) }),
    ...(password !== undefined && { password: decoded(password) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notAnAddress("in user, password and SERVICE write % as %25");
  }
}

function certificates(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new HoldfastError("invalid", `the certificates of ca=${file} cannot be read: give a file in PEM form`, {
      cause,
    });
  }
}
