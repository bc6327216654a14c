import { describe, expect, it } from "vitest";
import { note, play, type Tools, user } from "./rehearsing.ts";

const tools: Tools = {
  schedule_cron: ({ when }) =>
    when === "at 25:00" ? new Error('cannot schedule "at 25:00": not understood') : `Scheduled sch_1: once, ${when}`,
  bash: () => "ran",
};
const FIRED = "(schedule sch_1, set by agent lead on Mon 2026-11-16 09:00; due Mon 2026-11-16 09:03)";

describe("the rehearsal model sets reminders", () => {
  it("hands the user's own words for the time to the scheduler and says the reminder when it fires", async () => {
    const set = await play([user("remind me of the meeting in 3 minutes.")], tools);
    expect(set.calls).toEqual([[["schedule_cron", { when: "in 3 minutes", prompt: "Reminder: the meeting" }]]]);
    expect(set.text).toBe(
      "I will remind you: the meeting\nScheduled sch_1: once, in 3 minutes\nIt comes without input while a process stays (the terminal, `--stay`); otherwise when this context is next taken up.",
    );
    const fired = await play([...set.items, note("cron", `[Scheduled] Reminder: the meeting\n${FIRED}`)], tools);
    expect([fired.calls, fired.text]).toEqual([[], `Reminder: the meeting\n${FIRED}`]);
  });

  it("does so in Japanese", async () => {
    const set = await play([user("3分後に会議をリマインドして")], tools);
    expect(set.calls).toEqual([[["schedule_cron", { when: "3分後", prompt: "リマインダー: 会議" }]]]);
    const fired = await play([...set.items, note("cron", `[Scheduled] リマインダー: 会議\n${FIRED}`)], tools);
    expect([fired.calls, fired.text]).toEqual([[], `リマインダー: 会議\n${FIRED}`]);
  });

  it("says a reminder that fires in the middle of other work with its answer", async () => {
    const meanwhile = [[note("cron", `[Scheduled] Reminder: tea\n${FIRED}`)]];
    const { text } = await play([user("run `x`")], tools, { meanwhile });
    expect(text).toBe(`\`x\` ended with exit code 0.\nOutput:\n\`\`\`\nran\n\`\`\`\n\nReminder: tea\n${FIRED}`);
  });

  it("reports a time that the scheduler does not understand", async () => {
    const { text } = await play([user("remind me of tea at 25:00")], tools);
    expect(text).toBe('schedule_cron failed: cannot schedule "at 25:00": not understood');
  });
});
