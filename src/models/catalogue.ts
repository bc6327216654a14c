// What is publicly known of models: limits and prices. What is not known is said, never guessed.
import type { Limits, Usage } from "./model.ts";

/** US dollars per million tokens. */
interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

interface Entry {
  /** `provider/name`; a dated snapshot of it is the same model, another suffix is not. */
  model: string;
  limits: Limits;
  price?: Price;
}

const K = 1000;
const sees = { images: true, documents: true };
const wide: Limits = { contextTokens: 1000 * K, outputTokens: 128 * K, ...sees };
const claude200: Limits = { contextTokens: 200 * K, outputTokens: 64 * K, ...sees };
const gpt6: Limits = { contextTokens: 1050 * K, outputTokens: 128 * K, ...sees };
const gpt5: Limits = { contextTokens: 400 * K, outputTokens: 128 * K, ...sees };
const gpt41: Limits = { contextTokens: 1_047_576, outputTokens: 32_768, ...sees };
const gpt4o: Limits = { contextTokens: 128 * K, outputTokens: 16_384, ...sees };
const oSeries: Limits = { contextTokens: 200 * K, outputTokens: 100 * K, ...sees };

/** Five-minute cache writes cost five quarters of the input. */
const anthropic = (input: number, cacheRead: number, output: number): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite: (input * 5) / 4,
});
/** Requests of up to 272 000 tokens; beyond that OpenAI bills more. Cache writes are free before GPT-6. */
const openai = (input: number, cacheRead: number, output: number, cacheWrite = 0): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

const CATALOGUE: Entry[] = [
  { model: "anthropic/claude-opus-5-5", limits: wide, price: anthropic(4, 0.2, 20) },
  { model: "anthropic/claude-opus-5", limits: wide, price: anthropic(5, 0.5, 25) },
  { model: "anthropic/claude-opus-4-7", limits: wide, price: anthropic(5, 0.5, 25) },
  { model: "anthropic/claude-opus-4-6", limits: wide, price: anthropic(5, 0.5, 25) },
  { model: "anthropic/claude-opus-4-5", limits: claude200, price: anthropic(5, 0.5, 25) },
  { model: "anthropic/claude-sonnet-5-5", limits: wide, price: anthropic(2, 0.2, 10) },
  { model: "anthropic/claude-sonnet-5", limits: wide, price: anthropic(2, 0.2, 10) },
  {
    model: "anthropic/claude-sonnet-4-6",
    limits: { ...claude200, contextTokens: 1000 * K },
    price: anthropic(3, 0.3, 15),
  },
  { model: "anthropic/claude-sonnet-4-5", limits: claude200, price: anthropic(3, 0.3, 15) },
  { model: "anthropic/claude-haiku-5-5", limits: wide }, // priced in tiers
  { model: "anthropic/claude-haiku-4-5", limits: claude200, price: anthropic(1, 0.1, 5) },
  { model: "openai/gpt-6.1-sol", limits: gpt6, price: openai(2, 0.1, 10, 2.5) },
  { model: "openai/gpt-6-sol", limits: gpt6, price: openai(2, 0.2, 10, 2.5) },
  { model: "openai/gpt-6-luna", limits: gpt6, price: openai(0.1, 0.01, 0.5, 0.125) },
  { model: "openai/gpt-5.5", limits: gpt5, price: openai(5, 0.5, 30) },
  { model: "openai/gpt-5.4", limits: gpt5, price: openai(2.5, 0.25, 15) },
  { model: "openai/gpt-5.4-mini", limits: gpt5, price: openai(0.75, 0.075, 4.5) },
  { model: "openai/gpt-5.4-nano", limits: gpt5, price: openai(0.2, 0.02, 1.25) },
  { model: "openai/gpt-5.2", limits: gpt5, price: openai(1.75, 0.175, 14) },
  { model: "openai/gpt-5.1", limits: gpt5, price: openai(1.25, 0.125, 10) },
  { model: "openai/gpt-5", limits: gpt5, price: openai(1.25, 0.125, 10) },
  { model: "openai/gpt-5-mini", limits: gpt5, price: openai(0.25, 0.025, 2) },
  { model: "openai/gpt-5-nano", limits: gpt5, price: openai(0.05, 0.005, 0.4) },
  { model: "openai/gpt-4.1", limits: gpt41, price: openai(2, 0.5, 8) },
  { model: "openai/gpt-4.1-mini", limits: gpt41, price: openai(0.4, 0.1, 1.6) },
  { model: "openai/gpt-4.1-nano", limits: gpt41, price: openai(0.1, 0.025, 0.4) },
  { model: "openai/gpt-4o", limits: gpt4o, price: openai(2.5, 1.25, 10) },
  { model: "openai/gpt-4o-mini", limits: gpt4o, price: openai(0.15, 0.075, 0.6) },
  { model: "openai/o3", limits: oSeries, price: openai(2, 0.5, 8) },
  { model: "openai/o4-mini", limits: oSeries, price: openai(1.1, 0.275, 4.4) },
];

/** Limits that every later model of a family has kept so far. */
const FAMILIES: [prefix: string, limits: Limits][] = [
  ["anthropic/claude-", claude200],
  ["openai/gpt-5", gpt5],
  ["openai/gpt-6", gpt6],
  ["openai/o", oSeries],
];

/** Small enough that every current model takes it. */
const UNKNOWN: Limits = {
  contextTokens: 128 * K,
  isAssumed: true,
  outputTokens: 8192,
  images: false,
  documents: false,
};

/** The current models that a key alone leads to. */
export const DEFAULT_ANTHROPIC = "anthropic/claude-sonnet-5-5";
export const DEFAULT_OPENAI = "openai/gpt-6-sol";

/** The current model of each of Anthropic's families, and Claude Code's other names for one. */
const CLAUDE: Record<string, string> = {
  fable: "anthropic/claude-fable-5-2",
  best: "anthropic/claude-opus-5-5",
  opusplan: "anthropic/claude-opus-5-5",
  sonnet: "anthropic/claude-sonnet-5-5",
  opus: "anthropic/claude-opus-5-5",
  haiku: "anthropic/claude-haiku-5-5",
};

/** Claude Code's mark of a long window, which models have here as far as they can. */
const bareOf = (name: string): string => name.replace(/\[1m\]$/, "");

export const isClaudeFamily = (name: string): boolean => Object.hasOwn(CLAUDE, bareOf(name));

/** `sonnet`, `opus`, `haiku`, `fable` or Anthropic's own name of a model, as provider/name. */
export const claudeModel = (name: string): string =>
  (isClaudeFamily(name) ? CLAUDE[bareOf(name)] : undefined) ?? `anthropic/${bareOf(name)}`;

/** What to ask for by a bare name; or, where that is not clear, the full names it may mean. */
export function modelsNamed(given: string): string[] {
  if (isClaudeFamily(given)) return [claudeModel(given)];
  const name = bareOf(given);
  const bare = (model: string) => model.slice(model.indexOf("/") + 1);
  const exact = CATALOGUE.filter(
    ({ model }) => name.startsWith(bare(model)) && SNAPSHOT.test(name.slice(bare(model).length)),
  );
  if (exact.length > 0) return exact.map(({ model }) => `${model.slice(0, model.indexOf("/"))}/${name}`);
  return CATALOGUE.filter(({ model }) => bare(model).startsWith(name) || bare(model).startsWith(`claude-${name}`)).map(
    ({ model }) => model,
  );
}

/** Every name that means a model without its provider. */
export const bareNames = (): string[] => [
  ...Object.keys(CLAUDE),
  ...CATALOGUE.map(({ model }) => model.slice(model.indexOf("/") + 1)),
  "rehearsal",
];

const SNAPSHOT = /^(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest))?$/;

/** The same models over another wire. */
const listed = (id: string): string => id.replace(/^openai-responses\//, "openai/");

function entryOf(id: string): Entry | undefined {
  const name = listed(id);
  return CATALOGUE.find((e) => name.startsWith(e.model) && SNAPSHOT.test(name.slice(e.model.length)));
}

export function limitsOf(id: string): Limits {
  return entryOf(id)?.limits ?? FAMILIES.find(([prefix]) => listed(id).startsWith(prefix))?.[1] ?? UNKNOWN;
}

/** Undefined: unknown. */
function priceOf(id: string): Price | undefined {
  return entryOf(id)?.price;
}

/** Undefined: the price is not known. Models that run on this machine cost nothing. */
export function costUsd(id: string, usage: Usage): number | undefined {
  if (id.startsWith("ollama/") || id.startsWith("rehearsal")) return 0;
  const price = priceOf(id);
  if (!price) return undefined;
  const total =
    usage.input * price.input +
    usage.output * price.output +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite;
  return total / 1_000_000;
}
