// Owns the one table between our tool names and those that existing scripts know (stream-json, hooks, rules).

interface Names {
  name: string;
  /** Our argument → theirs. */
  keys?: Record<string, string>;
}

const TABLE: Record<string, Names> = {
  bash: { name: "Bash", keys: { timeout_ms: "timeout" } },
  read_file: { name: "Read", keys: { path: "file_path" } },
  write_file: { name: "Write", keys: { path: "file_path" } },
  edit_file: { name: "Edit", keys: { path: "file_path", old_text: "old_string", new_text: "new_string" } },
  multi_edit: { name: "MultiEdit", keys: { path: "file_path" } },
  glob: { name: "Glob" },
  grep: { name: "Grep" },
  todo_write: { name: "TodoWrite" },
  job_output: { name: "BashOutput" },
  job_kill: { name: "KillShell" },
};

export function toClaude(name: string, input: unknown): { name: string; input: unknown } {
  const known = TABLE[name];
  if (!known) return { name, input };
  if (!known.keys || typeof input !== "object" || input === null) return { name: known.name, input };
  const keys = known.keys;
  return { name: known.name, input: Object.fromEntries(Object.entries(input).map(([k, v]) => [keys[k] ?? k, v])) };
}
