// The families of `/metrics`: their names, what they say, and the samples of each project. Counters count what ledgers record.
import { costUsd } from "../../models/catalogue.ts";
import type { Usage } from "../../models/model.ts";
import type { ContextRow, Need, ProjectRow, RowStatus } from "../monitor/api.ts";
import { TOOL_BUCKETS_MS } from "./counts.ts";
import type { HistogramSample, Labels, MetricFamily, Sample } from "./exposition.ts";
import type { Measured } from "./metrics.ts";

const STATUSES: readonly RowStatus[] = [
  ...(["running", "waiting", "paused", "interrupted", "completed", "failed", "idle"] as const),
];
const NEEDS: readonly Need["kind"][] = ["approval", "plan", "question", "failure"];
/** Of a holder that lost its lease while it may have been alive. */
const NOT_GONE: readonly string[] = ["alive"];

export interface ProjectFigures {
  row: Pick<ProjectRow, "id" | "name">;
  contexts: readonly ContextRow[];
  needs: readonly Need[];
  /** Left out where its store did not answer. */
  measured?: Measured;
}

interface Scraped {
  version: string;
  unreadable: number;
  seconds: number;
}

/** In US dollars; `unpriced`: calls of models without a known price. */
function spent(models: Measured["totals"]["models"]): { model: string; usd: number; unpriced: number }[] {
  return Object.entries(models).map(([model, { usage, replies, asides }]) => {
    const usd = costUsd(model, usage);
    return { model, usd: usd ?? 0, unpriced: usd === undefined ? replies + asides : 0 };
  });
}

export function familiesOf(all: readonly ProjectFigures[], { version, unreadable, seconds }: Scraped): MetricFamily[] {
  const ofProject = ({ row }: ProjectFigures): Labels => ({ project: row.name, project_id: row.id });
  const readable = all.filter(({ measured }) => measured !== undefined);
  /** One sample a project, or several, each with the project's labels. */
  const each = (samples: (measured: Measured) => Sample[]): Sample[] =>
    all.flatMap((one) =>
      one.measured
        ? samples(one.measured).map(({ labels, value }) => ({ labels: { ...ofProject(one), ...labels }, value }))
        : [],
    );
  const byName = (name: string, counts: (measured: Measured) => Readonly<Record<string, number>>): Sample[] =>
    each((measured) => Object.entries(counts(measured)).map(([key, value]) => ({ labels: { [name]: key }, value })));
  const one = (value: (measured: Measured) => number): Sample[] => each((measured) => [{ value: value(measured) }]);

  return [
    gauge("build_info", "The version of the monitor that answers.", [{ labels: { version }, value: 1 }]),
    gauge("projects", "Projects that the monitor reads.", [
      { value: all.filter(({ measured }) => measured !== undefined).length },
    ]),
    gauge("projects_unreadable", "Projects whose store cannot be opened or did not answer.", [{ value: unreadable }]),
    gauge(
      "contexts",
      "Contexts by status. waiting: for a person. interrupted: the process is gone in the middle of its work.",
      readable.flatMap((project) =>
        STATUSES.map((status) => ({
          labels: { ...ofProject(project), status },
          value: project.contexts.filter((row) => row.status === status).length,
        })),
      ),
    ),
    gauge(
      "contexts_damaged",
      "Contexts whose ledger turned out to be damaged when it was read. `holdfast contexts verify` looks at everything.",
      readable.map((project) => ({
        labels: ofProject(project),
        value: project.contexts.filter(({ damaged }) => damaged !== undefined).length,
      })),
    ),
    gauge(
      "needs_you",
      "What waits for a person, by kind.",
      readable.flatMap((project) =>
        NEEDS.map((kind) => ({
          labels: { ...ofProject(project), kind },
          value: project.needs.filter((need) => need.kind === kind).length,
        })),
      ),
    ),
    counter(
      "events_total",
      "Events recorded in ledgers of contexts.",
      one(({ events }) => events),
    ),
    gauge(
      "store_bytes",
      "Size of the store's file with its write-ahead log. Not there for a store on a server.",
      each(({ storeBytes }) => (storeBytes === undefined ? [] : [{ value: storeBytes }])),
    ),
    gauge(
      "shared_data_bytes",
      "Bytes of the shared data of all contexts, as it is now.",
      one((m) => m.dataBytes),
    ),
    ...ofModels(each),
    counter(
      "model_retries_total",
      "Model calls that failed and were made again, by what failed.",
      byName("cause", ({ totals }) => totals.retries),
    ),
    counter(
      "prompt_cache_breaks_total",
      "Causes for which a request did not begin as the one before it, so that the provider's cache was missed. One request may have several.",
      byName("cause", ({ totals }) => totals.breaks),
    ),
    counter(
      "turns_total",
      "Turns that ended, by how.",
      byName("reason", ({ totals }) => totals.turns),
    ),
    ...ofTools(all, { ofProject, byName, one }),
    gauge(
      "ready",
      "Agents and mechanisms whose time has come, for a host to take.",
      one((m) => m.ready),
    ),
    gauge(
      "oldest_ready_seconds",
      "How long the oldest of them is due; 0: nothing is.",
      one(({ oldestReadyMs }) => oldestReadyMs / 1_000),
    ),
    counter(
      "lease_takeovers_total",
      "Agents taken from a holder that had not let them go, by what it was: gone (its process had ended), alive (past its time; it was ended or fenced off), unseen (on another machine, not heard of).",
      byName("holder", ({ totals }) => totals.takeovers),
    ),
    counter(
      "lease_losses_total",
      "Leases that a living process lost to another one, as the one that took them recorded it.",
      one(({ totals }) => NOT_GONE.reduce((sum, was) => sum + (totals.takeovers[was] ?? 0), 0)),
    ),
    counter(
      "lease_killed_commands_total",
      "Commands that were killed because the lease of their agent was lost.",
      one(({ totals }) => totals.killedCommands),
    ),
    gauge(
      "backup_lag_events",
      "Events of contexts that are not in the last backup.",
      ofBackups(each, (b) => b.lag),
    ),
    gauge(
      "backup_age_seconds",
      "Since the last backup to that place.",
      ofBackups(each, (b) => b.ageMs / 1_000),
    ),
    gauge("scrape_duration_seconds", "What this answer took to put together.", [{ value: seconds }]),
  ];
}

type Each = (samples: (measured: Measured) => Sample[]) => Sample[];

const ofBackups = (each: Each, value: (backup: Measured["backups"][number]) => number): Sample[] =>
  each(({ backups }) => backups.map((backup) => ({ labels: { place: backup.place }, value: value(backup) })));

function ofModels(each: Each): MetricFamily[] {
  return [
    counter(
      "model_calls_total",
      "Answers of models. kind: reply (of a conversation), aside (beside it: summaries, evaluators). Calls that failed are retries.",
      each(({ totals }) =>
        Object.entries(totals.models).flatMap(([model, { replies, asides }]) => [
          { labels: { model, kind: "reply" }, value: replies },
          { labels: { model, kind: "aside" }, value: asides },
        ]),
      ),
    ),
    counter(
      "tokens_total",
      "Tokens as providers counted them. input: neither read from a cache nor written to it.",
      each(({ totals }) =>
        Object.entries(totals.models).flatMap(([model, { usage }]) =>
          (Object.keys(KIND_NAMES) as (keyof Usage)[]).map((kind) => ({
            labels: { model, kind: KIND_NAMES[kind] },
            value: usage[kind],
          })),
        ),
      ),
    ),
    counter(
      "cost_usd_total",
      "What these tokens cost in US dollars, by the prices that this version knows.",
      each(({ totals }) => spent(totals.models).map(({ model, usd }) => ({ labels: { model }, value: usd }))),
    ),
    counter(
      "unpriced_model_calls_total",
      "Answers of models without a known price: they are not in the cost.",
      each(({ totals }) => [{ value: spent(totals.models).reduce((sum, { unpriced }) => sum + unpriced, 0) }]),
    ),
  ];
}

interface Sampling {
  ofProject: (project: ProjectFigures) => Labels;
  byName: (name: string, counts: (measured: Measured) => Readonly<Record<string, number>>) => Sample[];
  one: (value: (measured: Measured) => number) => Sample[];
}

function ofTools(all: readonly ProjectFigures[], { ofProject, byName, one }: Sampling): MetricFamily[] {
  const samples = all.flatMap((project): HistogramSample[] =>
    Object.entries(project.measured?.totals.tools ?? {}).map(([tool, { ms, buckets }]) => ({
      labels: { ...ofProject(project), tool },
      ...{ buckets, sum: ms / 1_000 },
    })),
  );
  const errors = ({ totals }: Measured) =>
    Object.fromEntries(Object.entries(totals.tools).map(([tool, counts]) => [tool, counts.errors]));
  return [
    {
      ...{ name: "holdfast_tool_duration_seconds", type: "histogram", samples },
      help: "How long calls of tools took, from their intent to their result. Refused calls are not in it.",
      bounds: TOOL_BUCKETS_MS.map((ms) => ms / 1_000),
    },
    counter("tool_errors_total", "Calls of tools whose result was an error.", byName("tool", errors)),
    counter(
      "tool_refusals_total",
      "Calls of tools that were refused before they ran.",
      one((m) => m.totals.refused),
    ),
  ];
}

const KIND_NAMES: Record<keyof Usage, string> = {
  ...{ input: "input", output: "output", cacheRead: "cache_read", cacheWrite: "cache_write" },
};

const counter = (name: string, help: string, samples: Sample[]): MetricFamily => ({
  ...{ name: `holdfast_${name}`, type: "counter", help, samples },
});

const gauge = (name: string, help: string, samples: Sample[]): MetricFamily => ({
  ...{ name: `holdfast_${name}`, type: "gauge", help, samples },
});
