// Whatever is done in whatever order: no restore and no undo takes a person's work away unasked, and what force goes over is in a checkpoint.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Context, openContexts, projectFiles, type RestoreReport } from "../../src/contexts/index.ts";
import { openFileKeeper } from "../../src/file-snapshots/index.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { tempDir } from "../house.ts";

type Edit =
  | { op: "write"; at: string; text: string; mode: number }
  | { op: "remove"; at: string }
  | { op: "mode"; at: string; mode: number }
  | { op: "rename"; at: string; to: string }
  | { op: "ignore"; rules: string };
type How = "plain" | "keepChanged" | "force";
type Step =
  | { do: "prompt" }
  | { do: "fork" }
  | { do: "agent"; edits: Edit[] }
  | { do: "person"; edits: Edit[] }
  | { do: "restore"; which: number; how: How; only: "all" | "files" }
  | { do: "undo"; how: How };
type Tree = Map<string, string>;

/** One context as a plain model has it. */
interface Line {
  context: Context;
  /** Paths that are now as somebody else left them. */
  foreign: Set<string>;
  /** Which restore brought a path, as long as nobody changed it since. */
  brought: Map<string, number>;
  saved: Map<number, { tree: Tree; foreign: Set<string> }>;
  /** Restores that were not taken back: their position, and the checkpoint before each. */
  restores: { seq: number; before: number }[];
}

const GITIGNORE = ".gitignore";
const RULES = ["*.log\nout/\n", "*.log\nd/\n"];
const isIgnored = (at: string, rules = ""): boolean =>
  at.endsWith(".log") || (rules.includes("d/\n") ? at.startsWith("d/") : at.startsWith("out/"));

const at = fc.constantFrom("a", "b", "d/a", "d/e/a", "n.log", "out/x", "new/deep/er/f");
const mode = fc.constantFrom(0o644, 0o600, 0o755);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ op: fc.constant("write" as const), at, text: fc.constantFrom("x", "y", "z"), mode }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("remove" as const), at }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("mode" as const), at, mode }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("rename" as const), at, to: at }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("ignore" as const), rules: fc.constantFrom(...RULES) }) },
);
const edits = fc.array(edit, { minLength: 1, maxLength: 4 });
const how = fc.constantFrom<How>("plain", "plain", "keepChanged", "force");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("prompt" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("agent" as const), edits }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("person" as const), edits }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("restore" as const),
      which: fc.nat({ max: 9 }),
      how,
      only: fc.constantFrom("all" as const, "files" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("undo" as const), how }) },
);
const moves = fc.array(fc.record({ on: fc.nat({ max: 3 }), step }), { minLength: 4, maxLength: 12 });

function treeOf(root: string): Tree {
  const found: Tree = new Map();
  for (const entry of fs.readdirSync(root, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile())
      found.set(path.relative(root, file), `${(fs.statSync(file).mode & 0o777).toString(8)} ${fs.readFileSync(file)}`);
  }
  return found;
}

let writes = 0;

/** What does not fit the tree does nothing. Gives the paths that it changed. */
function apply(root: string, one: Edit): string[] {
  const full = (name: string) => path.join(root, name);
  try {
    switch (one.op) {
      case "write":
        fs.mkdirSync(path.dirname(full(one.at)), { recursive: true });
        fs.writeFileSync(full(one.at), `${one.text} ${writes++}`); // writing the same again is no change
        fs.chmodSync(full(one.at), one.mode);
        return [one.at];
      case "remove":
        fs.rmSync(full(one.at));
        return [one.at];
      case "mode":
        if ((fs.statSync(full(one.at)).mode & 0o777) === one.mode) return [];
        fs.chmodSync(full(one.at), one.mode);
        return [one.at];
      case "rename":
        if (one.at === one.to) return [];
        fs.mkdirSync(path.dirname(full(one.to)), { recursive: true });
        fs.renameSync(full(one.at), full(one.to));
        return [one.at, one.to];
      case "ignore":
        if (fs.existsSync(full(GITIGNORE)) && fs.readFileSync(full(GITIGNORE), "utf8") === one.rules) return [];
        fs.writeFileSync(full(GITIGNORE), one.rules);
        return [GITIGNORE];
    }
  } catch {
    return [];
  }
}

const rulesIn = (tree: Tree): string => tree.get(GITIGNORE)?.slice(4) ?? "";
const keptOf = (tree: Tree): Tree => new Map([...tree].filter(([name]) => !isIgnored(name, rulesIn(tree))));

/** The paths that going from `now` to a checkpoint changes; the others stay for good. */
function changing(now: Tree, then: Tree): Set<string> {
  const wanted = [...then.keys()].filter((name) => then.get(name) !== now.get(name));
  const gone = [...now.keys()].filter((name) => !then.has(name) && !isIgnored(name, rulesIn(then)));
  // What no checkpoint holds by now stays.
  return new Set([...wanted, ...gone].filter((name) => !(now.has(name) && isIgnored(name, rulesIn(now)))));
}

async function world() {
  const root = tempDir("work");
  const state = tempDir("state");
  const dir = path.join(state, "files");
  fs.writeFileSync(path.join(root, GITIGNORE), RULES[0]!);
  fs.writeFileSync(path.join(root, "a"), "first");
  const contexts = await openContexts({ file: path.join(state, "p.db") }, { files: projectFiles({ root, dir }) });
  const context = await contexts.create({ task: "t", root });
  const lines: Line[] = [{ context, foreign: new Set(), brought: new Map(), saved: new Map(), restores: [] }];

  /** Somebody changed these paths: for whoever it was they are its own, for the others they are not. */
  function changed(paths: Iterable<string>, by?: Line): void {
    const now = treeOf(root);
    for (const name of paths)
      for (const line of lines) {
        line.brought.delete(name);
        if (line === by || !now.has(name)) line.foreign.delete(name);
        else line.foreign.add(name);
      }
  }

  async function prompt(line: Line): Promise<void> {
    const { seq } = await line.context.checkpoint(`prompt ${line.saved.size + 1}`, { auto: true });
    line.saved.set(seq, { tree: keptOf(treeOf(root)), foreign: new Set(line.foreign) });
  }

  /** What was there is in the named checkpoint, to the last byte. */
  async function isKept({ undo }: RestoreReport, before: Tree, paths: Iterable<string>): Promise<void> {
    const elsewhere = tempDir("elsewhere");
    await openFileKeeper({ root: elsewhere, dir }).restore(undo.files as never, { force: true });
    const kept = treeOf(elsewhere);
    for (const name of paths) expect([name, kept.get(name)]).toEqual([name, before.get(name)]);
    fs.rmSync(elsewhere, { recursive: true });
  }

  async function goBack(line: Line, one: Extract<Step, { how: How }>): Promise<void> {
    const undoes = one.do === "undo" ? line.restores.at(-1) : undefined;
    const points = [...line.saved.keys()];
    const to = one.do === "undo" ? undoes?.before : points[one.which % points.length];
    if (to === undefined) return;
    const then = line.saved.get(to)!;
    const before = treeOf(root);
    const change = changing(before, then.tree);
    const isAsked = (name: string) =>
      change.has(name) && !(undoes !== undefined && line.brought.get(name) === undoes.seq);
    const asked = [...line.foreign].filter(isAsked).sort();
    const opts = one.how === "plain" ? {} : { [one.how]: true };
    // As another process would, with nothing but what the last one left of its look.
    const context = await contexts.get(line.context.id, { files: projectFiles({ root, dir }) });
    let report: RestoreReport;
    try {
      report =
        one.do === "undo"
          ? await context.undo(opts)
          : await context.restore(to, { ...opts, ...(one.only === "files" && { files: true }) });
    } catch (error) {
      if (!isHoldfastError(error, "conflict")) throw error;
      expect([one.how, (error.detail as { paths: string[] }).paths, treeOf(root)]).toEqual(["plain", asked, before]);
      return;
    }
    expect(one.how === "plain" ? asked : []).toEqual([]);
    const stays = one.how === "keepChanged" ? asked : [];
    const expected = new Map(before);
    for (const name of change) {
      if (stays.includes(name)) continue;
      if (then.tree.has(name)) expected.set(name, then.tree.get(name)!);
      else expected.delete(name);
    }
    expect(Object.fromEntries(treeOf(root))).toEqual(Object.fromEntries(expected));
    expect(report.overwrote ?? []).toEqual(one.how === "force" ? asked : []);
    if (one.how === "force" && asked.length > 0) await isKept(report, before, asked);

    line.saved.set(report.undo.seq, { tree: keptOf(before), foreign: new Set(line.foreign) });
    if (undoes) line.restores.pop();
    else line.restores.push({ seq: report.undo.seq + 1, before: report.undo.seq });
    const written = [...change].filter((name) => !stays.includes(name));
    changed(written, line);
    for (const name of written) {
      if (then.foreign.has(name) && then.tree.has(name)) line.foreign.add(name);
      line.brought.set(name, report.undo.seq + 1);
    }
  }

  async function take(line: Line, one: Step): Promise<void> {
    await sleep(60); // by the clock of the files too
    if (one.do === "prompt") await prompt(line);
    else if (one.do === "person") changed(one.edits.flatMap((each) => apply(root, each)));
    else if (one.do === "agent") {
      const work = await line.context.begin();
      changed(
        one.edits.flatMap((each) => apply(root, each)),
        line,
      );
      await sleep(15);
      await work.end("paused");
    } else if (one.do === "fork") {
      if (lines.length < 3) {
        const { foreign, brought, saved, restores } = line;
        const context = await line.context.fork();
        const own = { foreign: new Set(foreign), brought: new Map(brought), saved: new Map(saved) };
        lines.push({ context, ...own, restores: [...restores] });
      }
    } else await goBack(line, one);
  }

  return {
    lines,
    take,
    prompt: () => prompt(lines[0]!),
    async close() {
      await contexts.close();
      for (const one of [root, state]) fs.rmSync(one, { recursive: true });
    },
  };
}

const RUNS = process.env.HOLDFAST_LONG ? 400 : 16;

it("no work of a person is lost without force, with force it is in a named checkpoint, and nobody is asked without need", async () => {
  const runs = (numRuns: number) =>
    fc.assert(
      fc.asyncProperty(moves, async (steps) => {
        const { lines, take, prompt, close } = await world();
        try {
          await prompt();
          for (const { on, step } of steps) await take(lines[on % lines.length]!, step);
        } finally {
          await close();
        }
      }),
      { numRuns },
    );
  // Mostly it waits for the clock: several at once.
  await Promise.all(Array.from({ length: 8 }, () => runs(RUNS / 8)));
}, 3_600_000);
