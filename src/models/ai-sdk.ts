// Plugging in any AI SDK provider: a LanguageModelV4 behind the port. Loaded only for providers that have no native adapter.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { createAiSdkPrompt, createAiSdkTools } from "./ai-sdk-prompt.ts";
import { createAiSdkReading } from "./ai-sdk-reading.ts";
import { errorFromEvent, errorFromStatus } from "./http-error.ts";
import { DEFAULT_STALL_MS } from "./http-stream.ts";
import { type Delta, type Limits, type Model, ModelError, type ModelRequest, type Reply, type Usage } from "./model.ts";

export interface AiSdkOptions {
  id: string;
  name: string;
  provider: string;
  limits: Limits;
  stallMs?: number;
  env: Readonly<Record<string, string | undefined>>;
}

const SPOKEN = ["v3", "v4"];

/** `provider/name` through an installed `@ai-sdk/<provider>`. Its key and base URL are `<PROVIDER>_API_KEY` and `<PROVIDER>_BASE_URL`. */
export async function openAiSdk(opts: AiSdkOptions): Promise<Model> {
  const create = await loadProvider(opts);
  let language: LanguageModelV4;
  try {
    language = create(opts.name);
  } catch (cause) {
    throw new HoldfastError("invalid", `${opts.id}: ${messageOf(cause)}`, { cause });
  }
  if (!SPOKEN.includes(language.specificationVersion)) {
    const version = language.specificationVersion;
    throw new HoldfastError(
      "invalid",
      `@ai-sdk/${opts.provider} speaks ${version}, not v4: install its newest version`,
    );
  }
  return adaptLanguageModel(language, { id: opts.id, limits: opts.limits, stallMs: opts.stallMs });
}

type CreateModel = (name: string) => LanguageModelV4;

async function loadProvider({ provider, env }: AiSdkOptions): Promise<CreateModel> {
  const unknown = (cause?: unknown) =>
    new HoldfastError(
      "invalid",
      `no model provider "${provider}": use anthropic, openai, openai-responses, ollama or openai-compatible, or npm install @ai-sdk/${provider}`,
      { cause },
    );
  if (!/^[a-z0-9][a-z0-9-]*$/.test(provider)) throw unknown();
  let module: Record<string, unknown>;
  try {
    module = await import(`@ai-sdk/${provider}`);
  } catch (cause) {
    throw unknown(cause);
  }
  const prefix = provider.replaceAll("-", "_").toUpperCase();
  const given = {
    ...(env[`${prefix}_API_KEY`] ? { apiKey: env[`${prefix}_API_KEY`] } : {}),
    ...(env[`${prefix}_BASE_URL`] ? { baseURL: env[`${prefix}_BASE_URL`] } : {}),
  };
  const found = Object.entries(module).filter(
    (entry): entry is [string, CreateModel] => typeof entry[1] === "function",
  );
  const factory = found.find(([name]) => /^create[A-Z]/.test(name))?.[1] as ((o: object) => CreateModel) | undefined;
  if (factory && Object.keys(given).length > 0) return factory({ name: provider, ...given });
  const ready = found.find(([, value]) => "languageModel" in value)?.[1];
  if (ready) return ready;
  if (factory) throw new HoldfastError("invalid", `@ai-sdk/${provider} needs ${prefix}_BASE_URL or ${prefix}_API_KEY`);
  throw unknown();
}

export function adaptLanguageModel(
  language: LanguageModelV4,
  opts: { id: string; limits: Limits; stallMs?: number },
): Model {
  const prompt = createAiSdkPrompt(opts);
  const tools = createAiSdkTools();
  return {
    id: opts.id,
    limits: opts.limits,
    reply: (request, { signal, onDelta }) =>
      ask({
        language,
        request,
        prompt,
        tools,
        signal,
        onDelta,
        id: opts.id,
        stallMs: opts.stallMs ?? DEFAULT_STALL_MS,
      }),
  };
}

interface Asked {
  language: LanguageModelV4;
  request: ModelRequest;
  prompt: ReturnType<typeof createAiSdkPrompt>;
  tools: ReturnType<typeof createAiSdkTools>;
  signal: AbortSignal;
  onDelta?: (delta: Delta) => void;
  id: string;
  stallMs: number;
}

async function ask(asked: Asked): Promise<Reply> {
  const { language, request, signal, id, stallMs } = asked;
  const reading = createAiSdkReading(asked.onDelta);
  // The provider is stopped by either: the user's interrupt or its own silence.
  const inner = new AbortController();
  const stop = () => inner.abort();
  let stalled = false;
  const timer = setTimeout(() => {
    stalled = true;
    inner.abort();
  }, stallMs);
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) inner.abort();
    inner.signal.throwIfAborted();
    const { stream } = await language.doStream({
      prompt: asked.prompt(request),
      tools: asked.tools(request.tools),
      maxOutputTokens: request.maxOutputTokens,
      abortSignal: inner.signal,
    });
    for await (const part of untilAborted(stream, inner.signal)) {
      timer.refresh();
      if (part.type === "error") throw fromPart(id, part.error);
      reading.take(part);
    }
    const { finish, parts, usage } = reading.end();
    if (finish === undefined || finish === "interrupted") {
      throw new ModelError("cut", `${id}: the stream ended before its end mark`, { partial: reading.partial() });
    }
    if (finish === "error") throw new ModelError("server", `${id}: the provider stopped with an error`);
    return { model: id, parts, finish: reading.finish(), usage: usageOf(usage) };
  } catch (error) {
    const partial = reading.partial();
    if (signal.aborted)
      throw new ModelError("aborted", `${id}: the model call was interrupted`, { partial, cause: error });
    if (stalled)
      throw new ModelError("stalled", `${id}: no byte for ${stallMs / 1000} s (HOLDFAST_STALL_MS sets the limit)`, {
        partial,
      });
    throw error instanceof ModelError ? error : fromThrown(id, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** Not every provider ends its stream on abort. */
async function* untilAborted<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncGenerator<T> {
  const reader = stream.getReader();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

interface CallError {
  statusCode?: number;
  responseHeaders?: Record<string, string>;
  responseBody?: string;
}

function fromThrown(id: string, error: unknown): ModelError {
  const { statusCode, responseHeaders, responseBody }: CallError = error ?? {};
  if (statusCode && statusCode !== 200) {
    return errorFromStatus(id, statusCode, responseHeaders ?? {}, responseBody || messageOf(error));
  }
  const kind = statusCode === 200 ? "cut" : "network"; // the answer had begun
  return new ModelError(kind, `${id}: ${messageOf(error)}`, { cause: error });
}

/** An error inside a stream arrives as an Error, as the provider's plain object, or as its text. */
function fromPart(id: string, error: unknown): ModelError {
  if (error instanceof Error) {
    // How some providers report a stream that just ends.
    if (error.name === "AI_InvalidResponseDataError")
      return new ModelError("cut", `${id}: ${error.message}`, { cause: error });
    return "statusCode" in error && error.statusCode
      ? fromThrown(id, error)
      : errorFromEvent(id, { message: error.message });
  }
  return errorFromEvent(id, error);
}

function usageOf(usage: LanguageModelV4Usage | undefined): Usage {
  const { total = 0, noCache, cacheRead = 0, cacheWrite = 0 } = usage?.inputTokens ?? {};
  return {
    input: noCache ?? Math.max(0, (total ?? 0) - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output: usage?.outputTokens?.total ?? 0,
    cacheRead: cacheRead ?? 0,
    cacheWrite: cacheWrite ?? 0,
  };
}
