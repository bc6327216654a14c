// Where traces go: the variables that every OpenTelemetry exporter knows, of this process's own environment. A repository cannot set them.
import { VERSION } from "../../version.ts";
import type { Attributes } from "./span.ts";

export interface TraceSettings {
  /** Not there: they can be printed only. */
  endpoint?: { url: URL; headers: Readonly<Record<string, string>>; timeoutMs: number };
  resource: Attributes;
  /** Prompts, replies, arguments and results go with the spans. */
  content: boolean;
}

/** `says`: why nothing is sent although something is set, for people. */
export type TraceChoice = { settings: TraceSettings; says?: undefined } | { settings: TraceSettings; says: string };

const USUAL_TIMEOUT_MS = 10_000;
const PROTOCOL = "http/json";

/** Nothing is done, and nothing loaded, where this says no. */
export function traceSettings(env: NodeJS.ProcessEnv): TraceChoice {
  const settings: TraceSettings = { resource: resourceOf(env), content: isTrue(env[CONTENT]) };
  if (isTrue(env.OTEL_SDK_DISABLED) || env.OTEL_TRACES_EXPORTER === "none") return { settings };
  const exporter = env.OTEL_TRACES_EXPORTER || "otlp";
  if (exporter !== "otlp")
    return { settings, says: `OTEL_TRACES_EXPORTER is ${exporter}: only otlp is known, no traces are sent` };
  const given = urlOf(env);
  if (given === undefined) return { settings };
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || PROTOCOL;
  if (protocol !== PROTOCOL)
    return {
      settings,
      says: `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}: only ${PROTOCOL} is spoken, no traces are sent`,
    };
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    return { settings, says: "OTEL_EXPORTER_OTLP_ENDPOINT is no http address: no traces are sent" };
  const headers = {
    ...pairsIn(env.OTEL_EXPORTER_OTLP_HEADERS),
    ...pairsIn(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
  };
  const timeoutMs = Number(env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT || env.OTEL_EXPORTER_OTLP_TIMEOUT);
  const endpoint = { url, headers, timeoutMs: timeoutMs > 0 ? timeoutMs : USUAL_TIMEOUT_MS };
  return { settings: { ...settings, endpoint } };
}

const CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

const isTrue = (given: string | undefined): boolean => given?.trim().toLowerCase() === "true";

function urlOf(env: NodeJS.ProcessEnv): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces, OTEL_EXPORTER_OTLP_ENDPOINT: base } = env;
  if (ofTraces) return ofTraces;
  return base ? `${base.replace(/\/+$/, "")}/v1/traces` : undefined;
}

function resourceOf(env: NodeJS.ProcessEnv): Attributes {
  const given = pairsIn(env.OTEL_RESOURCE_ATTRIBUTES);
  return {
    ...given,
    "service.name": env.OTEL_SERVICE_NAME || given["service.name"] || "holdfast",
    "service.version": given["service.version"] || VERSION,
  };
}

/** `a=b,c=d`, values percent-encoded. What is neither is left out. */
function pairsIn(given: string | undefined): Record<string, string> {
  const pairs = (given ?? "").split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    return at > 0 && name !== "" ? [[name, decoded(pair.slice(at + 1).trim())] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
