// Addresses of servers that keep ledgers, as they are given: what they begin with, whose password they hold, which project they name.

import { HoldfastError } from "./error.ts";

/** What addresses of servers begin with. */
const SERVER = /^rediss?(?:\+sentinel)?:/;

export const isServer = (address: string): boolean => SERVER.test(address);

const FORMS =
  "write redis://HOST:PORT/DATABASE?project=NAME, rediss:// for TLS, or redis+sentinel://HOST:PORT,HOST:PORT/SERVICE?project=NAME";

/** Contract: shows nothing of what was given, which may hold a password. */
export const notAnAddress = (what: string): HoldfastError =>
  new HoldfastError("invalid", `this is no address of a Redis store (${what}): ${FORMS}`);

/** Contract: throws `invalid` for one of which it cannot be told where its password ends. */
export function checkCredentials(address: string): void {
  const [place = ""] = address.split("?");
  const [, behind = ""] = /^[^/]*\/\/(?:[^@/]*@)?(.*)$/s.exec(place) ?? [];
  const isCutOff = place.length < address.length && /^[^=&]*@/.test(address.slice(place.length + 1));
  if (behind.includes("@") || isCutOff)
    throw notAnAddress("in user and password write @ as %40, / as %2F and ? as %3F");
}

/** Of a place for state: a server is meant, and mistyped. */
export const isMistyped = (given: string): boolean =>
  /^\s*[\w+-][\w+.-]*[^\w/]{0,2}\/\//.test(given) ||
  /^\s*redis[^/]*@/i.test(given) ||
  (/@[\w.-]+:\d+(?:[/?]|$)/.test(given) && !/^\s*(?:\/(?!\/)|\.{1,2}\/)/.test(given));

/** Before the host, or of the Sentinels, in its settings. */
export function hasPassword(address: string): boolean {
  const [place = "", ...settings] = address.split("?");
  return /^[^/]*\/\/[^@]*:[^@]+@/.test(place) || /password/i.test(decoded(settings.join("?")));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The name that an address gives the project: machines that give the same one share its ledgers. */
export const projectIn = (address: string): string | undefined =>
  new URLSearchParams(address.split("?")[1] ?? "").get("project") || undefined;

/** With the name of the project, where it has none. */
export function addressed(address: string, project: string): string {
  if (projectIn(address) !== undefined) return address;
  return `${address}${address.includes("?") ? "&" : "?"}project=${encodeURIComponent(project)}`;
}

/** For people: `instead` stands where a password does. */
export function passwordLeftOut(address: string, instead: string): string {
  const [place = "", ...settings] = address.split("?");
  const shown = place.replace(/^([^/]*\/\/[^@:]*:).+@/, (_, before: string) => `${before}${instead}@`);
  const said = settings.join("?").replace(/((?:^|&)[^=&]*password=)[^&]*/gi, (_, name: string) => name + instead);
  return settings.length === 0 ? shown : `${shown}?${said}`;
}
