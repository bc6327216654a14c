// Whatever a team and a person do in whatever order: taking a worktree over loses nothing of the person's, and a refusal changes nothing.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openWorktrees } from "../../src/mechanisms/worktrees/index.ts";
import { scratch } from "../turn.ts";
import { git, makeRepository } from "./world.ts";

type Edit =
  | { op: "write"; at: string; text: string }
  | { op: "remove" | "run" | "link"; at: string }
  | { op: "move"; at: string; to: string };
type Step =
  | { do: "person" | "team"; edits: Edit[]; after: "leave" | "commit" | "hide" }
  | { do: "merge"; commit: boolean };

const at = fc.constantFrom("a", "b", "d", "d/a", "d/e", "n.log", "d/n.log", "new", "out/x");
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ op: fc.constant("write" as const), at, text: fc.constantFrom("x", "y", "z") }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom("remove" as const, "run" as const, "link" as const), at }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("move" as const), at, to: at }) },
);
const edits = fc.array(edit, { minLength: 1, maxLength: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("person" as const),
      edits,
      after: fc.constantFrom("leave" as const, "leave" as const, "leave" as const, "hide" as const, "commit" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("team" as const),
      edits,
      after: fc.constantFrom("commit" as const, "commit" as const, "leave" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("merge" as const), commit: fc.boolean() }) },
);

/** What does not fit the tree does nothing. Gives the paths that it changed. */
function apply(root: string, one: Edit): string[] {
  const full = (name: string) => join(root, name);
  try {
    mkdirSync(dirname(full("to" in one ? one.to : one.at)), { recursive: true });
    if (one.op === "write") writeFileSync(full(one.at), `${one.text}\n`);
    else if (one.op === "run") chmodSync(full(one.at), lstatSync(full(one.at)).isFile() ? 0o755 : 0o700);
    else if (one.op === "remove") rmSync(full(one.at), { recursive: true });
    else if (one.op === "link") symlinkSync("elsewhere", full(one.at));
    else if (one.op === "move") renameSync(full(one.at), full(one.to));
    return [one.at, ...("to" in one ? [one.to] : [])];
  } catch {
    return [];
  }
}

/** Everything that is not git's own. */
function treeOf(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    const name = relative(root, file);
    if (name.split("/")[0] === ".git" || entry.isDirectory()) continue;
    found[name] = entry.isSymbolicLink()
      ? `-> ${readlinkSync(file)}`
      : `${lstatSync(file).mode & 0o100 ? "x" : "-"} ${readFileSync(file, "utf8")}`;
  }
  return found;
}

/** What git keeps of the tree: where it is, what is staged, what is hidden. */
const stateOf = (root: string) => [
  git(root, "rev-parse", "HEAD"),
  git(root, "ls-files", "--stage", "-v"),
  readdirSync(join(root, ".git")).filter((name) => /^MERGE_|\.lock$/.test(name)),
];

async function world() {
  const base = scratch(onTestFinished);
  const root = makeRepository(join(base, "project"), {
    a: "1\n",
    b: "1\n",
    "d/a": "1\n",
    ".gitignore": "*.log\nout/\n",
  });
  for (const key of ["name", "email"]) git(root, "config", `user.${key}`, "n@x");
  const worktrees = openWorktrees({ dir: join(base, "trees"), root });
  const tree = await worktrees.ensure("api", { from: root, mark: "test/lead" });
  /** Paths that the person has and no commit: what is there, or that nothing is. */
  const mine = new Set<string>();
  const counts = { merged: 0, refused: 0 };

  async function merge(commit: boolean): Promise<void> {
    const before = treeOf(root);
    const [head, ...rest] = stateOf(root);
    try {
      await worktrees.merge("api", { usedBy: async () => [], ...(commit ? { commit: "rest" } : {}) });
      counts.merged++;
      const now = treeOf(root);
      const kept = (of: Record<string, string>) => [...mine].map((name) => [name, of[name]]);
      expect(kept(now)).toEqual(kept(before));
      git(root, "merge-base", "--is-ancestor", String(head), "HEAD");
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      counts.refused++;
      expect([error.code, treeOf(root), stateOf(root)]).toEqual(["refused", before, [head, ...rest]]);
    }
  }

  async function take(one: Step): Promise<void> {
    if (one.do === "merge") return merge(one.commit);
    const where = one.do === "person" ? root : tree;
    const changed = one.edits.flatMap((each) => apply(where, each));
    const names = () =>
      git(where, "ls-files", "--", ...changed)
        .split("\n")
        .filter(Boolean);
    if (one.after === "commit") {
      git(where, "add", "--all", ...(one.do === "team" ? ["--force"] : []));
      git(where, "commit", "-q", "--allow-empty", "-m", one.do);
    } else if (one.after === "hide" && changed.length > 0)
      for (const name of names()) git(where, "update-index", "--assume-unchanged", name);
    if (one.do !== "person") return;
    // A folder that moved or went takes what was in it along: whatever is not as it was committed is the person's.
    const committed = new Set(git(root, "ls-tree", "-r", "--name-only", "HEAD").split("\n"));
    const isHidden = new Set(
      git(root, "ls-files", "-v")
        .split("\n")
        .flatMap((line) => (/^[a-z] /.test(line) ? [line.slice(2)] : [])),
    );
    const now = treeOf(root);
    mine.clear();
    for (const name of new Set([...committed, ...Object.keys(now)]))
      if (now[name] !== (committed.has(name) ? shown(root, name) : undefined) || isHidden.has(name)) mine.add(name);
  }

  return { take, counts };
}

/** A file as HEAD has it. */
function shown(root: string, name: string): string {
  const [mode] = git(root, "ls-tree", "HEAD", "--", name).split(" ");
  const text = git(root, "cat-file", "-p", `HEAD:${name}`);
  return mode === "120000" ? `-> ${text}` : `${mode === "100755" ? "x" : "-"} ${text}\n`;
}

const RUNS = process.env.HOLDFAST_LONG ? 200 : 5;

test("no work of a person is lost or half merged by taking over what a team made", { timeout: 3_600_000 }, async () => {
  const counts = { merged: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
      const one = await world();
      const work: Edit[] = [{ op: "write", at: "w", text: "w" }];
      // So that something is merged in every run, and something is in the way.
      await one.take({ do: "team", edits: work, after: "commit" });
      await one.take({ do: "merge", commit: false });
      for (const each of steps) await one.take(each);
      await one.take({ do: "merge", commit: true });
      counts.merged += one.counts.merged;
      counts.refused += one.counts.refused;
    }),
    { numRuns: RUNS },
  );
  expect(counts.merged).toBeGreaterThanOrEqual(RUNS);
});
