// From the log of a run to its figures.

const READ = 0.1; // price of a cached byte, as of a fresh one without a cache
const WRITE = 1.25;
const BREAK = 0.98; // less than this of the previous request kept = the prefix broke

function commonPrefix(a, b) {
  const n = Math.min(a.length, b.length);
  let i = 0;
  while (i < n && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}

/** Cached bytes of each accepted request: what it shares with the last main request, or with the last of its own kind. */
function withCached(requests) {
  const last = {};
  return requests.map((r) => {
    const cached = Math.max(0, ...[last.main, last[r.kind]].filter(Boolean).map((p) => commonPrefix(p.flat, r.flat)));
    const broke = r.kind === "main" && last.main && cached < last.main.flat.length * BREAK;
    last[r.kind] = r;
    return { ...r, cached, broke };
  });
}

export function measure(model, world) {
  const end = model.log.findIndex((r) => r.end);
  const log = end < 0 ? model.log : model.log.slice(0, end + 1); // recalls come after and are not counted
  const accepted = withCached(log.filter((r) => !r.refused));
  const mains = accepted.filter((r) => r.kind === "main");
  const summaries = accepted.filter((r) => r.kind === "summary");
  const view = mains.at(-1)?.flat ?? "";
  const sum = (list, f) => list.reduce((s, x) => s + f(x), 0);
  const size = (r) => r.flat.length;

  // a result counts as shown when a later accepted main request carried it
  const steps = world.script.slice(0, mains.at(-1)?.step ?? 0).filter((s) => s.file);
  const seen = steps.filter((s) => mains.some((m) => m.flat.includes(s.file.fact)));
  const inView = world.files.filter((f) => view.includes(f.fact));
  const lost = seen.filter((s) => !view.includes(s.file.fact));
  const by = (way) => model.recalled.filter((r) => r.found && r.by === way).length;

  // once a probe has been in a view, every later view should have it too
  const gaps = (word) => {
    const from = mains.findIndex((m) => m.flat.includes(word));
    return from < 0 ? [] : mains.slice(from).filter((m) => !m.flat.includes(word));
  };

  return {
    finished: end >= 0,
    stepsDone: model.stepsDone(),
    steps: world.script.length - 1,
    probes: Object.fromEntries(Object.entries(world.probes).map(([name, word]) => [name, view.includes(word)])),
    probesKept: Object.values(world.probes).filter((word) => view.includes(word)).length,
    viewsMissingOne: new Set(Object.values(world.probes).flatMap(gaps)).size,
    views: mains.length,
    facts: world.files.length,
    factsInView: inView.length,
    recallOffered: model.recallOffered,
    recalledByReference: by("reference"),
    recalledByQuery: by("query"),
    reachable: model.recallOffered ? inView.length + by("reference") + by("query") : null,
    lost: lost.length,
    lostShownToSummariser: lost.filter((s) => summaries.some((r) => r.flat.includes(s.file.fact))).length,
    unseen: steps.length - seen.length,
    requests: accepted.length,
    refused: log.length - accepted.length,
    summaryCalls: summaries.length,
    summaryCachedShare: summaries.length ? sum(summaries, (r) => r.cached) / sum(summaries, size) : null,
    prefixBreaks: mains.filter((r) => r.broke).length,
    cachedShare: sum(accepted, (r) => r.cached) / sum(accepted, size),
    cost: sum(accepted, (r) => READ * r.cached + WRITE * (size(r) - r.cached)) / 1000,
    maxView: Math.max(0, ...mains.map(size)),
  };
}
