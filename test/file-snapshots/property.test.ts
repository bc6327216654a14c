import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gitStateOf, openWorld, treeOf } from "./world.ts";

type Change =
  | { kind: "write"; at: string; content: string; mode: number }
  | { kind: "remove"; at: string }
  | { kind: "folder"; at: string; mode: number }
  | { kind: "link"; at: string; target: string }
  | { kind: "mode"; at: string; mode: number }
  | { kind: "move"; at: string; to: string };

const name = fc.constantFrom("a", "b", "c", "ü", "n\nl", "-x");
const at = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const mode = fc.constantFrom(0o644, 0o600, 0o755, 0o700, 0o444, 0o664);
const dirMode = fc.constantFrom(0o755, 0o700, 0o775, 0o555);
const content = fc.oneof(fc.constantFrom("", "x", "x\r\ny\n", "\0\xff"), fc.string({ maxLength: 40 }));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), at, content, mode }),
  fc.record({ kind: fc.constant("remove" as const), at }),
  fc.record({ kind: fc.constant("folder" as const), at, mode: dirMode }),
  fc.record({ kind: fc.constant("link" as const), at, target: fc.oneof(at, fc.constantFrom("..", "/etc", "gone")) }),
  fc.record({ kind: fc.constant("mode" as const), at, mode }),
  fc.record({ kind: fc.constant("move" as const), at, to: at }),
);

const isLink = (file: string) =>
  fs
    .readdirSync(path.dirname(file), { withFileTypes: true })
    .some((e) => e.name === path.basename(file) && e.isSymbolicLink());

/** What does not fit the tree as it is does nothing. Never through a link: changes stay inside. */
function apply(root: string, one: Change): void {
  const full = path.join(root, one.at);
  try {
    if (one.at.split("/").some((_, i, parts) => i > 0 && isLink(path.join(root, ...parts.slice(0, i))))) return;
    if (one.kind === "remove") fs.rmSync(full, { recursive: true });
    else if (one.kind === "mode") {
      if (fs.lstatSync(full).isFile()) fs.chmodSync(full, one.mode);
    } else if (one.kind === "move" && !one.to.includes("/")) fs.renameSync(full, path.join(root, one.to));
    else if (one.kind !== "move") {
      fs.mkdirSync(path.dirname(full), { recursive: true });
      if (one.kind === "folder") {
        fs.mkdirSync(full);
        fs.chmodSync(full, one.mode);
      } else if (one.kind === "link") fs.symlinkSync(one.target, full);
      else if (!isLink(full)) {
        fs.writeFileSync(full, one.content, "latin1");
        fs.chmodSync(full, one.mode);
      }
    }
  } catch {} // it does not fit
}

describe("any tree", () => {
  it("is the same after save, any changes and restore, back and forth, and git's state is untouched", async () => {
    const changes = fc.array(change, { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(changes, changes, fc.boolean(), async (first, then, git) => {
        const world = openWorld({ git });
        const { root, keeper } = world;
        if (git) {
          fs.writeFileSync(path.join(root, "base"), "base");
          world.git("add", "-A");
          world.git("commit", "-qm", "x");
        }
        for (const one of first) apply(root, one);
        const gitState = git ? gitStateOf(path.join(root, ".git")) : {};
        const before = treeOf(root);
        const mark = await keeper.save();
        for (const one of then) apply(root, one);
        const after = treeOf(root);
        const later = await keeper.save();
        const dry = await keeper.restore(mark, { dryRun: true });
        expect(treeOf(root)).toEqual(after);
        const done = await keeper.restore(mark);
        expect({ ...done, left: [] }).toEqual({ ...dry, left: [] });
        expect(done.left).toEqual([]);
        expect(treeOf(root)).toEqual(before);
        expect(await keeper.diff(mark, "now")).toEqual([]);
        const other = world.again();
        await other.restore(later);
        expect(treeOf(root)).toEqual(after);
        expect(git ? gitStateOf(path.join(root, ".git")) : {}).toEqual(gitState);
        await keeper.settled();
        for (const dir of [root, world.state]) fs.rmSync(dir, { recursive: true });
      }),
      { numRuns: process.env.HOLDFAST_LONG ? 300 : 30 },
    );
  });
});
