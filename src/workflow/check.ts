// What can be known about a workflow before anything runs: its names, its edges, and that every value has a giver.
import { messageOf } from "../ledger/error.ts";
import { didYouMean, quotedSource } from "../templates/source.ts";
import { keysOf, rootOf } from "./condition.ts";
import type { Phase, PhaseSpec, Workflow, WorkflowSpec } from "./definition.ts";
import { ancestorsOf, cycleIn } from "./graph.ts";
import type { At, Places } from "./places.ts";

const RESERVED = [
  "data",
  "item",
  "index",
  "loop",
  "workflow",
  "accumulated_results",
  "__proto__",
  "constructor",
  "prototype",
];
/** What a phase that waits for a person has no use for. */
const AGENT_KEYS: (keyof PhaseSpec)[] = ["agent", "reads", "foreach", "concurrency", "retry", "timeout", "budget"];

/** Ids, needs, cycles, loops: the skeleton. */
export function checkGraph(spec: WorkflowSpec, places: Places): void {
  const ids = spec.phases.map((phase) => phase.id);
  const known = new Set<string>();
  for (const [i, phase] of spec.phases.entries()) {
    const at: At = ["phases", i];
    if (known.has(phase.id)) places.report([...at, "id"], `there are two phases ${phase.id}`, "Give each its own id.");
    known.add(phase.id);
    for (const [n, need] of (phase.needs ?? []).entries())
      if (!ids.includes(need))
        places.report(
          [...at, "needs", n],
          `${phase.id} needs ${quotedSource(need)}, and there is no such phase${didYouMean(need, ids)}`,
          `The phases are ${ids.join(", ")}.`,
        );
    checkKeys(phase, at, places);
  }
  const graph = spec.phases.map(({ id, needs = [] }) => ({ id, needs }));
  const cycle = cycleIn(graph);
  if (cycle) {
    const [first = ""] = cycle;
    const at = ids.indexOf(first);
    const advice = "Take one of these needs out; to repeat phases write until.";
    places.report(["phases", at, "needs"], `the needs go round: ${cycle.join(" → ")}`, advice);
    return;
  }
  const above = ancestorsOf(graph);
  const repeatedBy = new Map<string, string>();
  for (const [i, { id, until }] of spec.phases.entries()) {
    for (const one of until ? new Set([...until.repeat, id]) : []) {
      const at: At = ["phases", i, "until", "repeat"];
      if (!ids.includes(one))
        places.report(
          at,
          `until repeats ${quotedSource(one)}, and there is no such phase${didYouMean(one, ids)}`,
          `The phases are ${ids.join(", ")}.`,
        );
      else if (one !== id && !above.get(id)?.has(one))
        places.report(
          at,
          `until repeats ${one}, which ${id} does not need`,
          "Name phases that come before it, or add them to needs.",
        );
      const other = repeatedBy.get(one);
      if (other) places.report(at, `${one} is repeated by ${other} already`, "A phase can be in one loop only.");
      repeatedBy.set(one, id);
    }
  }
}

function checkKeys(phase: PhaseSpec, at: At, places: Places): void {
  const { id, prompt, template } = phase;
  if (prompt !== undefined && template !== undefined)
    places.report(at, `${id} has a prompt and a template`, "Keep one of them.", "template");
  if (phase.wait) {
    if (Object.keys(phase.exports ?? {}).length === 0)
      places.report(
        at,
        `${id} waits for input, and nothing says which`,
        "Name the keys that the person gives in exports.",
        "wait",
      );
    for (const key of AGENT_KEYS)
      if (phase[key] !== undefined)
        places.report(at, `${id} waits for a person, and ${key} is for agents`, "Take it out.", key);
  } else if (prompt === undefined && template === undefined)
    places.report(at, `${id} has no prompt`, "Write prompt: … or template: FILE.", "id");
  if (phase.concurrency !== undefined && phase.foreach === undefined && !phase.wait)
    places.report(at, `${id} has concurrency, and no foreach`, "Take it out, or say what it goes over.", "concurrency");
}

/** Every name that is read has a giver that comes before. */
export function checkNames(workflow: Workflow, places: Places): void {
  const { phases, inputs } = workflow;
  const above = ancestorsOf(phases);
  const givers = giversIn(workflow, above, places);
  for (const key of Object.keys(inputs))
    if (RESERVED.includes(key))
      places.report(
        ["inputs", key],
        `an input cannot be called ${quotedSource(key)}`,
        "This name has a meaning already: choose another one.",
      );
  for (const [i, phase] of phases.entries()) {
    const at: At = ["phases", i];
    const lacking = lackingFor(phase, { inputs, givers, before: above.get(phase.id) ?? new Set() });
    for (const [n, key] of phase.reads.entries()) {
      const wrong = lacking(key, { optional: true });
      if (wrong)
        places.report([...at, "reads", n], `${phase.id} reads ${quotedSource(key)}: ${wrong.what}`, wrong.advice);
    }
    for (const one of pathsOf(phase, at)) {
      const wrong = lacking(one.root, one);
      if (wrong) places.report(one.at, `${one.name} of ${phase.id}: ${wrong.what}`, wrong.advice);
    }
    checkTemplate(phase, at, places, lacking);
  }
}

/** By key: the phases that export it. */
type Givers = Map<string, Phase[]>;

function giversIn({ phases, inputs }: Workflow, above: Map<string, Set<string>>, places: Places): Givers {
  const givers: Givers = new Map();
  for (const [i, phase] of phases.entries()) {
    for (const key of Object.keys(phase.exports)) {
      const at: At = ["phases", i, "exports", key];
      if (RESERVED.includes(key))
        places.report(
          at,
          `${quotedSource(key)} cannot be exported`,
          "This name has a meaning already: choose another one.",
        );
      if (Object.hasOwn(inputs, key))
        places.report(at, `${quotedSource(key)} is an input already`, "Choose another name for one of them.");
      const others = givers.get(key) ?? [];
      const rival = others.find((one) => !related(one, phase, above) && !(one.when && phase.when));
      if (rival) {
        const advice = "Let one of them need the other, give both a when, or choose another name.";
        places.report(
          at,
          `${rival.id} and ${phase.id} both export ${quotedSource(key)}, and neither comes first`,
          advice,
        );
      }
      givers.set(key, [...others, phase]);
    }
  }
  return givers;
}

/** Why a key may not be there when the phase begins. */
type Lacking = (
  key: string,
  opts: { optional: boolean; own?: boolean },
) => { what: string; advice: string } | undefined;

/** `before`: the phases that come before this one. */
function lackingFor(
  phase: Phase,
  { inputs, givers, before }: { inputs: Workflow["inputs"]; givers: Givers; before: ReadonlySet<string> },
): Lacking {
  const names = [...Object.keys(inputs), ...givers.keys()];
  return (key, opts) => {
    if (Object.hasOwn(inputs, key)) return undefined;
    const by = givers.get(key);
    if (!by)
      return {
        what: `nothing gives ${quotedSource(key)}${didYouMean(key, names)}`,
        advice: `Let a phase export it or make it an input; there are ${names.join(", ") || "none"}.`,
      };
    if (opts.own && by.includes(phase)) return undefined;
    const earlier = by.filter((one) => before.has(one.id));
    const [first] = earlier;
    if (!first) {
      const looping = by.find((one) => one.until?.repeat.includes(phase.id) || one.id === phase.id);
      if (looping && opts.optional) return undefined;
      return looping
        ? {
            what: `${quotedSource(key)} is not there in the first round: ${looping.id} gives it`,
            advice: `Write a default, as {{ ${key} | default: "" }}, or an if.`,
          }
        : {
            what: `${quotedSource(key)} comes from ${by.map((one) => one.id).join(", ")}, which ${phase.id} does not need`,
            advice: `Add it to the needs of ${phase.id}.`,
          };
    }
    if (opts.optional || phase.when || earlier.some((one) => !one.when)) return undefined;
    return {
      what: `${quotedSource(key)} comes from ${first.id}, which its when may skip`,
      advice: `Give a default, or give ${phase.id} a when too.`,
    };
  };
}

interface NamedPath {
  name: string;
  at: At;
  root: string;
  optional: boolean;
  own: boolean;
}

/** What a phase reads outside its template. */
function pathsOf({ when, foreach, until }: Phase, at: At): NamedPath[] {
  const found: NamedPath[] = [];
  if (when)
    found.push({ name: "when", at: [...at, "when"], root: rootOf(when.condition.path), optional: true, own: false });
  if (foreach)
    found.push({ name: "foreach", at: [...at, "foreach"], root: rootOf(foreach.path), optional: false, own: false });
  if (until)
    found.push({
      name: "until",
      at: [...at, "until", "when"],
      root: rootOf(until.when.path),
      optional: true,
      own: true,
    });
  return found;
}

function checkTemplate(phase: Phase, at: At, places: Places, lacking: Lacking): void {
  if (!phase.prompt) return;
  const { template, include } = phase.prompt;
  let variables: ReturnType<typeof template.variables>;
  try {
    variables = template.variables({ include });
  } catch (error) {
    // A file that it includes: the message has its own place.
    places.report(
      at,
      `the template of ${phase.id} cannot be used: ${messageOf(error).replace(/\.$/, "")}`,
      "Correct it there.",
    );
    return;
  }
  const seen = new Set<string>();
  for (const { name, line, file, optional } of variables) {
    const keys = keysOf(name).map(String);
    const [root = "", second] = keys;
    if (phase.foreach && ["item", "index"].includes(root)) continue;
    const key = root === "data" ? second : root;
    const report = (what: string, advice: string) => places.add({ file, line, what, advice });
    if (key === undefined) {
      report("data alone names nothing", "Write {{ data.KEY }}.");
      continue;
    }
    if (["item", "index"].includes(root)) {
      report(`${phase.id} has no foreach, and so no ${root}`, "Write foreach, or another variable.");
      continue;
    }
    const wrong = lacking(key, { optional });
    if (!wrong || seen.has(`${file}:${line}:${key}`)) continue;
    seen.add(`${file}:${line}:${key}`);
    report(`variable ${name} of ${phase.id}: ${wrong.what}`, wrong.advice);
  }
}

function related(a: Phase, b: Phase, above: Map<string, Set<string>>): boolean {
  return (above.get(a.id)?.has(b.id) || above.get(b.id)?.has(a.id)) ?? false;
}
