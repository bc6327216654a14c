// The questions that every program answers without working: its version and its help.
import { only } from "../../ledger/only.ts";
import type { CommandCall } from "./call.ts";

const SHORT_VERSION = new Set(
  "node nodejs npm pnpm yarn bun tsc php ruby gcc g++ clang eslint perl lua pip pip3 gem composer".split(" "),
);

/** Asks only for the version or for help. For some programs `-v` means verbose, for others `-V` more than the version. */
export function isVersion(call: CommandCall): boolean {
  const [first, ...more] = call.args;
  if (!first || more.length > 0) return false;
  return (
    /^(?:--version|--help|-version)$/.test(first.text) ||
    (first.text === "-V" && !/^(?:mvn|gradle)$/.test(call.name)) ||
    (first.text === "-v" && SHORT_VERSION.has(call.name))
  );
}

/** `docker compose --help`: for programs that answer it themselves, whatever word stands before. */
export function isHelp(call: CommandCall): boolean {
  const words = call.args.slice(0, -1);
  return (
    call.args.at(-1)?.text === "--help" &&
    words.length > 0 &&
    words.length < 3 &&
    words.every((f) => /^[a-z][a-z-]*$/.test(f.text))
  );
}

/** They are asked or refused for what they do, but not for this. */
const ANSWERS = new Set("sqlite3 vim nvim nano emacs tmux screen strace ltrace gdb lldb valgrind tar xargs".split(" "));

export const isAnswered = (name: string, args: CommandCall["args"]): boolean =>
  /^--(?:version|help)$/.test(only(args)?.text ?? "") && ANSWERS.has(name);
