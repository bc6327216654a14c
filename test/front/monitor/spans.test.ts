// The timeline's stretches: what an agent waited for a person for is one, whether it was an approval or a plan.
import { expect, test } from "vitest";
import { gatherSpans } from "../../../src/front/monitor/spans.ts";
import type { StoredEvent } from "../../../src/ledger/store.ts";

const event = (seq: number, type: string, actor: string, data: unknown): StoredEvent => ({
  ...{ seq, type, actor, data, at: seq * 1_000, id: `e${seq}`, v: 1, touches: [] },
});

test("a plan waits from when it was handed in until it is answered; one that replaces it begins another wait", () => {
  const spans = gatherSpans();
  const plan = (requestId: string) => ({ requestId, plan: "as follows" });
  const review = (requestId: string) => ({ requestId, approve: true, feedback: "" });
  for (const one of [
    event(1, "turn.started", "mate", { turnId: "t1", cause: "input" }),
    event(2, "plan.submitted", "mate", plan("plan_1")),
    event(5, "plan.reviewed", "user", review("plan_1")),
    event(6, "plan.submitted", "mate", plan("plan_2")),
    event(7, "plan.submitted", "mate", plan("plan_3")),
    event(9, "turn.ended", "mate", { turnId: "t1", reason: "done" }),
  ])
    spans.observe(one);
  const { spans: drawn } = spans.between({ width: 4_000, now: 10_000 });
  const wait = { agent: "mate", kind: "wait", title: "plan of mate waits for an answer" };
  expect(drawn.filter(({ kind }) => kind === "wait")).toEqual([
    { ...wait, from: 2_000, to: 5_000, seq: 2 },
    { ...wait, from: 6_000, to: 7_000, seq: 6 },
    { ...wait, from: 7_000, seq: 7 },
  ]);
});
