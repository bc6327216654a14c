import { describe, expect, it } from "vitest";
import { fromClaude, toClaude } from "../../src/claude-code/tool-names.ts";

describe("names", () => {
  it.each([
    ["bash", { command: "ls", timeout_ms: 5 }, "Bash", { command: "ls", timeout: 5 }],
    [
      "edit_file",
      { path: "a", old_text: "x", new_text: "y" },
      "Edit",
      { file_path: "a", old_string: "x", new_string: "y" },
    ],
    [
      "multi_edit",
      { path: "a", edits: [{ old_text: "x", new_text: "y", replace_all: true }] },
      "MultiEdit",
      { file_path: "a", edits: [{ old_string: "x", new_string: "y", replace_all: true }] },
    ],
    [
      "grep",
      { pattern: "x", ignore_case: true, mode: "files" },
      "Grep",
      { pattern: "x", "-i": true, output_mode: "files_with_matches" },
    ],
    ["own_tool", { path: "a" }, "own_tool", { path: "a" }],
  ])("%s goes to Claude's and back", (name, input, theirs, theirInput) => {
    expect(toClaude(name, input)).toEqual({ name: theirs, input: theirInput });
    expect(fromClaude(theirs, theirInput)).toEqual({ name, input });
  });
});
