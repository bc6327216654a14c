// Whether the server at the page's address is the one that knows its token: asked without saying the token.
import { HELLO_PATH, helloText } from "../hello.ts";

const NONCE_BYTES = 32;

/** Contract: throws where nobody answers; false where it is anybody else. */
export async function isOwnServer(token: string, base: string): Promise<boolean> {
  const nonce = hexOf(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  // No cookie either: who answers may be anybody.
  const init: RequestInit = { cache: "no-store", credentials: "omit", redirect: "error" };
  const response = await fetch(`${base}${HELLO_PATH}?nonce=${nonce}`, init);
  const { proof } = (await response.json().catch(() => ({}))) as { proof?: unknown };
  if (typeof proof !== "string" || !/^[0-9a-f]{64}$/.test(proof)) return false;
  const signs = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(token), signs, false, ["verify"]);
  const text = helloText(new URL(base).port || "80", nonce);
  return crypto.subtle.verify("HMAC", key, bytesIn(proof), new TextEncoder().encode(text));
}

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const bytesIn = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
