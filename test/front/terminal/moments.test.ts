// Keys and changes of size at random moments of a run with a team: always an answer, never a lost line, never a stuck process.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratch } from "../../turn.ts";
import { hasTmux, startTmux } from "./tmux.ts";

const MOMENTS = process.env.HOLDFAST_LONG ? 500 : 5;
const SEED = Number(process.env.HOLDFAST_SEED ?? 1);

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state >>> 0) % 10_000) / 10_000;
  };
}

/** One of each kind of moment: it streams, it waits for a person, a command runs, a subagent works. */
const ROUNDS = [
  { text: "Some words, slowly, one after the other.", chunks: 8, delay_ms: 60 },
  { text: "Working.", calls: [{ name: "bash", input: { command: "sleep 2; echo worked" } }] },
  { text: "Asking.", calls: [{ name: "write_file", input: { path: "a.txt", content: "a\n" } }] },
  { text: "Delegating.", calls: [{ name: "task", input: { description: "look", prompt: "List Markdown files" } }] },
];

/** What is said below the words that were sent last. */
const ANSWER = /interrupt(?:ing|ed)|once more|leaves/;

describe.runIf(hasTmux)("the terminal", { timeout: 60_000 + MOMENTS * 3_000 }, () => {
  test(`answers at ${MOMENTS} random moments`, async () => {
    const dir = scratch(onTestFinished);
    const cwd = path.join(fs.realpathSync(scratch(onTestFinished)), "proj");
    fs.mkdirSync(cwd);
    const script = path.join(dir, "script.yaml");
    const rounds = Array.from({ length: 4 * MOMENTS + 40 }, (_, i) => {
      const round = ROUNDS[i % ROUNDS.length]!;
      return { ...round, text: `round-${i}- ${round.text}` };
    });
    fs.writeFileSync(script, JSON.stringify({ rounds }));
    const before = "for i in $(seq 60); do echo shell-line-$i-; done";
    const args = ["--model", `rehearsal:${script}`];
    const terminal = startTmux({ dir, cwd, args, before });
    onTestFinished(() => terminal.close());
    const next = random(SEED);
    const answered: number[] = [];
    await terminal.until("/help");
    for (let i = 0; i < MOMENTS; i++) {
      terminal.type(`words-${i}-`);
      await terminal.until(new RegExp(`^> (?:.*\\n)?.*words-${i}-`, "m"));
      await sleep(next() * 1_500);
      const size = next() < 0.4 ? [40 + Math.floor(next() * 120), 12 + Math.floor(next() * 40)] : undefined;
      if (size) terminal.resize(size[0]!, size[1]!);
      terminal.keys(next() < 0.5 ? "Escape" : "C-c");
      // It says that it stops, or had stopped: then the prompt takes words again.
      const pressed = performance.now();
      await terminal.until((shown) => ANSWER.test(shown.slice(Math.max(0, shown.lastIndexOf(`words-${i}-`)))), {
        every: 5,
      });
      answered.push(performance.now() - pressed);
      if (size) terminal.resize(100, 30);
      await terminal.until(/^>\s*$/m);
      await sleep(1_600); // a second Ctrl-C soon after would mean leaving
    }
    const late = answered.flatMap((ms, i) => (ms > 200 ? [`${i}: ${Math.round(ms)} ms`] : []));
    answered.sort((a, b) => a - b);
    const at = (share: number) => Math.round(answered[Math.ceil(share * MOMENTS) - 1]!);
    console.log(
      `answered ${MOMENTS} keys: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; late ${late.join(", ") || "none"}`,
    );
    expect(terminal.pid()).toBeGreaterThan(0);
    const all = terminal.history();
    const counts = Array.from({ length: 60 }, (_, i) => all.split(`shell-line-${i + 1}-`).length - 1);
    expect(counts.filter((count) => count !== 1)).toEqual([]);
    const words = Array.from({ length: MOMENTS }, (_, i) => all.split(`words-${i}-`).length - 1);
    expect(words.filter((count) => count !== 1)).toEqual([]);
    terminal.keys("C-d");
    await terminal.until("ended with 0");
  });
});
