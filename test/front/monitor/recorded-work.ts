// A piece of work that really ran: files written, data shared, a teammate written to, a restore and what came after it. For tests of what the page shows of it.
import fs from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { openContexts } from "../../../src/contexts/open.ts";
import { projectFiles } from "../../../src/contexts/project-files.ts";
import { openModel } from "../../../src/models/open-model.ts";
import type { ScriptRound } from "../../../src/testing/model-server-script.ts";
import { KEYS } from "../../environment.ts";
import { type House, openHouse } from "../../house.ts";
import { openMonitor, type TestMonitor } from "./monitor.ts";

export interface RecordedWork {
  house: House;
  monitor: TestMonitor;
  context: string;
  /** One more turn, while it is looked at. */
  say(words: string): Promise<void>;
  /** Of what the model's server got, in order: hashes of the bodies. */
  sent(): string[];
}

/** With a known price, so that there are costs. */
const MODEL = "anthropic/claude-sonnet-5-5";
const counts = (cacheRead: number, cacheWrite: number) => ({
  usage: { input: 40, output: 120, cacheRead, cacheWrite },
});
const call = (name: string, input: unknown) => ({ name, input });

const lines = (count: number, word: string) =>
  `${Array.from({ length: count }, (_, i) => `${word} ${i + 1}`).join("\n")}\n`;

const ROUNDS: ScriptRound[] = [
  { calls: [call("write_file", { path: "src/解析.ts", content: lines(30, "export const 行") })], ...counts(0, 4_000) },
  {
    calls: [call("spawn_teammate", { name: "alice", role: "reviewer", prompt: "Read what is written." })],
    ...counts(4_000, 300),
  },
  {
    calls: [call("send_message", { to: "alice", content: "Please look at **src/解析.ts**, and <b>only</b> at that." })],
    ...counts(4_300, 200),
  },
  { text: "Written, and alice was asked.", ...counts(4_500, 100) },
  {
    calls: [
      call("edit_file", { path: "src/解析.ts", old_text: "行 7\n", new_text: "行 seven\n" }),
      call("write_file", { path: "notes.md", content: "# Notes\n" }),
    ],
    ...counts(4_600, 300),
  },
  { text: "Edited.", ...counts(4_900, 80) },
  { calls: [call("write_file", { path: "other.md", content: "another way\n" })], ...counts(0, 4_700) },
  { text: "Another way.", ...counts(4_700, 60) },
];

export async function recordedWork(more: readonly ScriptRound[] = []): Promise<RecordedWork> {
  const rounds = [...ROUNDS, ...more];
  // By arrival: a restore must not play them again.
  const house = await openHouse(() => rounds.shift() ?? { text: "ok" }, { api: "anthropic", team: { offer: true } });
  onTestFinished(() => house.close());
  const env = { ANTHROPIC_BASE_URL: house.server.anthropicUrl, ...KEYS };
  const dir = path.join(house.state, "files");
  const files = async (root: string) => projectFiles({ root, dir });
  const harness = await house.again({ model: await openModel(MODEL, { env }), files });
  onTestFinished(() => harness.close());
  fs.writeFileSync(path.join(house.root, "README.md"), "# A project\n");
  let context: string | undefined;
  const say = async (words: string) => {
    const run = await harness.run(words, context === undefined ? {} : { context });
    context = run.context;
    await run.result;
    await run.taken.release();
  };
  await say("Write the parser, then ask alice (解析)");
  const contexts = await openContexts({ store: house.store });
  const shared = await contexts.get(context!, { author: "lead", files: await files(house.root) });
  await shared.share("計画", { steps: ["read", "write"], done: 1 });
  await shared.share("計画", { steps: ["read", "write", "test"], done: 2 });
  await shared.share("findings", "<script>alert(1)</script> stays text");
  await say("Edit line seven");
  await shared.checkpoint("before another way", { note: "名前を付けた" });
  await shared.restore("prompt 2");
  await say("Try another way");
  const monitor = await openMonitor(house.store, { root: house.root, files: dir });
  return {
    ...{ house, monitor, context: context!, say },
    sent: () => house.server.log().requests.map(({ sha256 }) => sha256),
  };
}
