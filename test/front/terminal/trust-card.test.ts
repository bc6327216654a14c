// The question of trust: all that it names is seen, and only a key that was meant for it answers.
import { expect, test } from "vitest";
import { PLAIN } from "../../../src/front/presentation/style.ts";
import { createTrustCard } from "../../../src/front/terminal/trust-card.ts";

function setUp(files: string[]) {
  const answers: boolean[] = [];
  const clock = { at: 0 };
  const card = createTrustCard({
    ...{ files, runs: ["hooks .claude/settings.json"], style: PLAIN, shownAt: 0, now: () => clock.at },
    answered: (is) => void answers.push(is),
  });
  const press = (...keys: string[]) => {
    for (const data of keys) card.key({ kind: "key", data });
  };
  return { card, answers, clock, press };
}

test("names every file, and what would run, however narrow it is", () => {
  const { card } = setUp(["AGENTS.md", ".claude/settings.json", "a\u001b[2Jb\nc"]);
  const { lines } = card.render({ columns: 40, rows: 30 });
  const text = lines.join("\n");
  for (const part of ["AGENTS.md", ".claude/settings.json", "hooks", "[y] yes, use them"]) expect(text).toContain(part);
  expect([text.includes("\u001b"), lines.every((line) => line.length <= 40)]).toEqual([false, true]);
});

test("words typed ahead, and pastes, answer nothing; after a moment y is yes and Esc is no", () => {
  const { card, answers, clock, press } = setUp(["AGENTS.md"]);
  card.render({ columns: 80, rows: 30 });
  press("t", "h", "e", "y", "\r");
  clock.at = 1_000;
  press("y");
  card.key({ kind: "paste", text: "y" });
  clock.at = 5_000;
  press("t", "\r");
  expect(answers).toEqual([]);
  press("y");
  expect(answers).toEqual([true]);
});

test("yes is possible only when its end was on the screen", () => {
  const { card, answers, clock, press } = setUp(Array.from({ length: 40 }, (_, i) => `file-${i}`));
  card.render({ columns: 80, rows: 10 });
  clock.at = 5_000;
  press("y");
  expect(answers).toEqual([]);
  press("\u001b");
  expect(answers).toEqual([false]);
});
