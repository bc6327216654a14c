// Turning `provider/name` into a model: which adapter, which endpoint, which key. Only the adapter that is used is loaded.
import { HoldfastError } from "../ledger/error.ts";
import { DEFAULT_ANTHROPIC, DEFAULT_OPENAI, limitsOf } from "./catalogue.ts";
import type { Limits, Model } from "./model.ts";
import { modelSpec } from "./model-spec.ts";

export interface OpenModelOptions {
  /** Keys and endpoints: the environment or the user's settings, never a repository. */
  env: Readonly<Record<string, string | undefined>>;
  /** Overrides what the catalogue says. */
  limits?: Partial<Limits>;
  /** No byte for this long means `stalled`; HOLDFAST_STALL_MS otherwise. */
  stallMs?: number;
  /** More fields of each request. */
  extra?: Record<string, unknown>;
}

/** A local model may read a long prompt for minutes before its first word. */
const LOCAL_STALL_MS = 600_000;

export async function openModel(given: string, opts: OpenModelOptions): Promise<Model> {
  const spec = modelSpec(given);
  const slash = spec.indexOf("/");
  const provider = slash < 0 ? spec : spec.slice(0, slash);
  const name = slash < 0 ? "" : spec.slice(slash + 1);
  if (name === "") throw new HoldfastError("invalid", `model "${spec}" is not provider/name`);
  const common = {
    id: spec,
    name,
    limits: { ...limitsOf(spec), ...opts.limits },
    stallMs: opts.stallMs ?? stallOf(opts.env),
    extra: opts.extra,
    env: opts.env,
  };
  const { env } = opts;
  switch (provider) {
    case "anthropic": {
      const { createAnthropic } = await import("./anthropic.ts");
      const apiKey = required(env, "ANTHROPIC_API_KEY", spec);
      return createAnthropic({ ...common, apiKey, baseUrl: urlOf(env, "ANTHROPIC_BASE_URL") });
    }
    case "openai":
    case "openai-responses": {
      const baseUrl = urlOf(env, "OPENAI_BASE_URL");
      // A server of one's own often wants none.
      const apiKey = baseUrl ? env.OPENAI_API_KEY : required(env, "OPENAI_API_KEY", spec);
      if (provider === "openai-responses" || isOpenAIs(baseUrl)) {
        const { createOpenAIResponses } = await import("./openai-responses.ts");
        return createOpenAIResponses({ ...common, apiKey, baseUrl });
      }
      const { createOpenAI } = await import("./openai.ts");
      return createOpenAI({ ...common, apiKey, baseUrl });
    }
    case "openai-compatible": {
      const { createOpenAI } = await import("./openai.ts");
      const baseUrl = urlOf(env, "OPENAI_BASE_URL");
      if (!baseUrl)
        throw new HoldfastError("invalid", `${spec} needs OPENAI_BASE_URL, such as http://127.0.0.1:8000/v1`, {
          detail: { model: spec },
        });
      return createOpenAI({ ...common, apiKey: env.OPENAI_API_KEY, baseUrl });
    }
    case "ollama": {
      const { createOpenAI } = await import("./openai.ts");
      return createOpenAI({
        ...common,
        stallMs: common.stallMs ?? LOCAL_STALL_MS,
        baseUrl: ollamaUrl(env.OLLAMA_HOST),
      });
    }
    default: {
      const { openAiSdk } = await import("./ai-sdk.ts");
      return openAiSdk({ ...common, provider, env });
    }
  }
}

/** What runs when nobody chose a model: the first key found, else the built-in offline model. */
export function defaultModelSpec(env: Readonly<Record<string, string | undefined>>): string {
  if (env.ANTHROPIC_API_KEY) return DEFAULT_ANTHROPIC;
  if (env.OPENAI_API_KEY) return DEFAULT_OPENAI;
  return "rehearsal";
}

function required(env: OpenModelOptions["env"], name: string, spec: string): string {
  const value = env[name];
  if (value) return value;
  throw new HoldfastError(
    "invalid",
    `${spec} needs a key: set ${name}, or give --model rehearsal (offline, not an AI)`,
    {
      detail: { model: spec },
    },
  );
}

function stallOf(env: OpenModelOptions["env"]): number | undefined {
  const given = env.HOLDFAST_STALL_MS;
  if (given === undefined || given === "") return undefined;
  const ms = Number(given);
  if (Number.isFinite(ms) && ms > 0) return ms;
  throw new HoldfastError("invalid", `HOLDFAST_STALL_MS is "${given}": set a number of milliseconds above 0`);
}

function urlOf(env: OpenModelOptions["env"], name: string): string | undefined {
  const given = env[name];
  if (!given) return undefined;
  if (/^https?:$/.test(URL.parse(given)?.protocol ?? "")) return given;
  throw new HoldfastError("invalid", `${name} is "${given}": set an address that starts with http:// or https://`);
}

/** Elsewhere Chat Completions is what every server speaks. */
const isOpenAIs = (baseUrl: string | undefined): boolean =>
  baseUrl === undefined || new URL(baseUrl).hostname === "api.openai.com";

/** OLLAMA_HOST is what Ollama itself reads: a host, host:port or a URL; 0.0.0.0 is where it listens, not where to ask. */
export function ollamaUrl(host: string | undefined): string {
  if (!host) return "http://127.0.0.1:11434/v1";
  const url = URL.parse(/^https?:\/\//.test(host) ? host : `http://${host}`);
  if (!url) throw new HoldfastError("invalid", `OLLAMA_HOST is "${host}": set a host, host:port or URL`);
  const hostname = url.hostname === "0.0.0.0" ? "127.0.0.1" : url.hostname;
  const port = url.port || (/^https?:\/\//.test(host) ? "" : "11434");
  const path = url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return `${url.protocol}//${hostname}${port ? `:${port}` : ""}${path}/v1`;
}
