// What a provider's error means: from a status, its headers and body, or from an error event inside a stream.
import type { IncomingHttpHeaders } from "node:http";
import { ModelError, type ModelErrorKind } from "./model.ts";
import { isOverflow } from "./overflow.ts";

interface Described {
  message: string;
  type: string;
  code: string;
  /** The field of the request that is meant. */
  param?: string;
}

type ErrorBody = Partial<Record<"error" | "message" | "detail" | "type" | "status" | "code" | "param", unknown>>;

/** Error bodies of all providers: `{error: {message, type, code}}`, `{error: "…"}`, `{message}`, `{detail}`, or a list of one of these. */
function describeError(body: unknown): Described {
  const root = Array.isArray(body) ? body[0] : body;
  if (typeof root === "string") return { message: root, type: "", code: "" };
  if (typeof root !== "object" || root === null) return { message: "", type: "", code: "" };
  const outer: ErrorBody = root;
  if (typeof outer.error === "string") return { message: outer.error, type: "", code: "" };
  const inner: ErrorBody = typeof outer.error === "object" && outer.error !== null ? outer.error : outer;
  const message = inner.message ?? inner.detail ?? "";
  return {
    message: typeof message === "string" ? message : JSON.stringify(message),
    type: String(inner.type ?? inner.status ?? ""),
    code: String(inner.code ?? ""),
    ...(typeof inner.param === "string" && { param: inner.param }),
  };
}

export function errorFromStatus(label: string, status: number, headers: IncomingHttpHeaders, text: string): ModelError {
  let body: unknown = text.trim();
  try {
    body = JSON.parse(text);
  } catch {
    // a proxy's HTML page or plain text: shown as it is
  }
  const described = describeError(body);
  const said = oneLine(described.message || text) || "no explanation given";
  return new ModelError(kindOfStatus(status, described), `${label} answered ${status}: ${said}${advice(status)}`, {
    status,
    retryAfterMs: retryAfterMs(headers),
    ...((status === 400 || status === 422) && { field: refusedField(described, text) }),
  });
}

/** Gateways keep OpenAI's sentence where they drop its fields; of this one they speak only to refuse it. */
function refusedField({ param, message }: Described, text: string): string | undefined {
  if (param !== undefined) return param;
  return /unsupported parameter:? ['"`](\w+)['"`]/i.exec(message)?.[1] ?? /\bstream_options\b/.exec(text)?.[0];
}

export function errorFromEvent(label: string, event: unknown): ModelError {
  const described = describeError(event);
  const status = /^[45]\d\d$/.test(described.code) ? Number(described.code) : undefined;
  return new ModelError(
    status === undefined ? kindOfType(described) : kindOfStatus(status, described),
    `${label} failed while answering: ${oneLine(described.message || described.type) || "no explanation given"}`,
    { status },
  );
}

function kindOfStatus(status: number, error: Described): ModelErrorKind {
  if (error.code === "insufficient_quota" || status === 402) return "auth"; // waiting does not fill an account
  if (status === 529 || knownKind(error) === "overloaded") return "overloaded";
  if (status === 429) return "rate_limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 408 || status >= 500) return isOverflow(error.message, error.code) ? "overflow" : "server";
  if (status === 413 || isOverflow(error.message, error.code)) return "overflow";
  return "invalid";
}

const KIND_OF_TYPE: Record<string, ModelErrorKind> = {
  overloaded_error: "overloaded",
  server_is_overloaded: "overloaded", // OpenAI
  slow_down: "overloaded", // OpenAI
  rate_limit_error: "rate_limit",
  rate_limit_exceeded: "rate_limit",
  insufficient_quota: "auth",
  authentication_error: "auth",
  permission_error: "auth",
};

const knownKind = ({ type, code }: Described): ModelErrorKind | undefined => {
  const name = [type, code].find((one) => Object.hasOwn(KIND_OF_TYPE, one));
  return name === undefined ? undefined : KIND_OF_TYPE[name];
};

/** What is wrong with the request stays wrong, however often it is sent. */
const INVALID = /^(invalid|image|unsupported)_/;

function kindOfType(error: Described): ModelErrorKind {
  const known = knownKind(error);
  if (known) return known;
  if (isOverflow(error.message, error.code)) return "overflow";
  return INVALID.test(error.code) || INVALID.test(error.type) ? "invalid" : "server";
}

function advice(status: number): string {
  if (status === 401 || status === 403) return " (check the API key and what it may use)";
  if (status === 404) return " (check the model's name and the base URL)";
  return "";
}

/** `retry-after-ms`, `retry-after` in seconds or as an HTTP date. */
function retryAfterMs(headers: IncomingHttpHeaders, now = Date.now()): number | undefined {
  const exact = Number.parseFloat(String(headers["retry-after-ms"] ?? ""));
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const value = headers["retry-after"];
  if (value === undefined || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 500);
