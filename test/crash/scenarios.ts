// What the harness is doing when it is killed: a prompt, the model's script, and which effects must be there exactly once.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import type { Door } from "./driver.ts";

export interface Scenario {
  name: string;
  prompt: string;
  rounds: ScriptRound[];
  /** Lines of effects.log, each exactly once. */
  effects: string[];
  /** Files as they must be at the end. */
  files: Record<string, string>;
  setUp?: (project: string) => void;
  door?: Door;
  /** An effect that no one can look up: a kill in its middle may leave it unknown. */
  mayBeUnknown?: boolean;
  /** Job notifications that the model must see exactly once. */
  notifications?: number;
  /** How often recovery may ask again for a round within one run. */
  asksAgain?: number;
}

const END: ScriptRound = { text: "All of it is done, and this is the closing answer." };
const read = (file: string) => ({ name: "read_file", input: { path: file } });
const write = (file: string, content: string) => ({ name: "write_file", input: { path: file, content } });
const bash = (command: string, more: object = {}) => ({ name: "bash", input: { command, ...more } });
const effect = (n: number) => `echo effect-${n} >> effects.log; echo said-${n}`;
const notes = (project: string) => fs.writeFileSync(path.join(project, "notes.txt"), "one\ntwo\nthree\n");

const one = (name: string, call: { name: string; input: unknown }, more: Partial<Scenario>): Scenario => ({
  name,
  prompt: `Please do the ${name} thing`,
  rounds: [{ text: "First a look.", calls: [call] }, END],
  effects: [],
  files: {},
  setUp: notes,
  ...more,
});

const todos = [
  { content: "Look", status: "completed" },
  { content: "Leap", status: "in_progress" },
];

const flags = ["--model", "openai-compatible/mock", "--permission-mode", "bypass"];
const recovering = (name: string, more: Partial<Scenario>): Scenario =>
  one(name, bash(effect(1)), { effects: ["effect-1"], ...more });
/** Long enough to be worth leaving out. */
const longNotes = (project: string) =>
  fs.writeFileSync(path.join(project, "notes.txt"), "a line of notes\n".repeat(100));

export const scenarios: Scenario[] = [
  { name: "text", prompt: "Please answer", rounds: [END], effects: [], files: {} },
  one("read_file", read("notes.txt"), {}),
  one("write_file", write("deep/new.txt", "fresh\n"), { files: { "deep/new.txt": "fresh\n" } }),
  one("edit_file", read("notes.txt"), {
    rounds: [
      { calls: [read("notes.txt")] },
      // Applied twice it would leave another text.
      { calls: [{ name: "edit_file", input: { path: "notes.txt", old_text: "two", new_text: "two two" } }] },
      END,
    ],
    files: { "notes.txt": "one\ntwo two\nthree\n" },
  }),
  one("bash", bash(effect(1)), { effects: ["effect-1"] }),
  one("todo_write", { name: "todo_write", input: { todos } }, {}),
  one("three calls", bash(""), {
    rounds: [{ calls: [read("notes.txt"), write("new.txt", "fresh\n"), bash(effect(1))] }, END],
    effects: ["effect-1"],
    files: { "new.txt": "fresh\n" },
  }),
  one("three calls, Anthropic's wire", bash(""), {
    rounds: [
      {
        reasoning: { text: "Three at once.", signature: "c2lnbmVk" },
        calls: [read("notes.txt"), write("new.txt", "fresh\n"), bash(effect(1))],
      },
      END,
    ],
    effects: ["effect-1"],
    files: { "new.txt": "fresh\n" },
    door: { flags: ["--model", "anthropic/mock", "--permission-mode", "bypass"] },
  }),
  one("background job", bash(""), {
    rounds: [
      { calls: [bash(`sleep 0.2; ${effect(1)}`, { run_in_background: true })] },
      { calls: [bash(`sleep 0.7; ${effect(2)}`)] },
      END,
    ],
    effects: ["effect-1", "effect-2"],
    notifications: 1,
  }),
  recovering("retried, then another model", {
    rounds: [
      { calls: [bash(effect(1))], faults: [{ status: 500 }, { status: 529 }, { status: 529 }, { status: 529 }] },
      { ...END, faults: [{ cutAt: 2 }] },
    ],
    asksAgain: 5,
    door: { flags: [...flags, "--fallback-model", "openai-compatible/other"] },
  }),
  recovering("cut off by its limit", {
    rounds: [
      { calls: [bash(effect(1))] },
      { text: "The first half of the answer,", finish: "length" },
      { text: " and its second half." },
    ],
  }),
  recovering("too long, then shortened", {
    setUp: longNotes,
    rounds: [
      { calls: [read("notes.txt")] },
      { calls: [bash(effect(1))] },
      { ...END, faults: [{ status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum" }] },
    ],
    asksAgain: 1,
  }),
  one("room is made", bash(""), {
    setUp: longNotes,
    rounds: [
      { calls: [read("notes.txt")] },
      { calls: [bash(effect(1))], usage: { input: 4_000 } },
      { calls: [write("new.txt", "fresh\n")] },
      END,
    ],
    effects: ["effect-1"],
    files: { "new.txt": "fresh\n" },
    door: { flags: [...flags, "--context-window", "7000"] },
  }),
  one(
    "external",
    { name: "post_letter", input: { line: "effect-1" } },
    {
      effects: ["effect-1"],
      mayBeUnknown: true,
      door: { script: path.resolve(fileURLToPath(import.meta.url), "../external-process.ts"), flags: [] },
    },
  ),
];

export const scenario = (name: string): Scenario => scenarios.find((s) => s.name === name)!;
