// A real terminal for tests: tmux on a socket of its own, with keys typed and the screen read.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { bin } from "../../cli/cli.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0 || Boolean(process.env.CI);

export interface Tmux {
  /** Keys by tmux's names (`Enter`, `C-c`, `Escape`), or text. */
  keys(...keys: string[]): void;
  /** Text as it is typed, then Enter. */
  type(text: string): void;
  screen(): string;
  /** With all that scrolled away. */
  history(): string;
  resize(columns: number, rows: number): void;
  /** Contract: throws, with the screen, when it does not come to that in time. */
  until(what: string | RegExp | ((shown: string) => boolean), opts?: { ms?: number; every?: number }): Promise<string>;
  /** The process of the terminal itself. */
  pid(): number;
  close(): void;
}

interface TmuxOptions {
  dir: string;
  cwd: string;
  args: string[];
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
  /** A command of a shell before it. */
  before?: string;
}

let started = 0;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export function startTmux({ dir, cwd, args, env = {}, columns = 100, rows = 30, before = "true" }: TmuxOptions): Tmux {
  const socket = path.join(dir, `tmux-${++started}`); // the server before it may still be leaving
  const config = path.join(dir, "tmux.conf");
  fs.writeFileSync(config, "set-option -g history-limit 50000\n"); // a window that is there already keeps what it began with
  const tmux = (...words: string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", config, ...words], { encoding: "utf8" });
  const given = {
    PATH: process.env.PATH ?? "",
    HOME: dir,
    XDG_STATE_HOME: dir,
    TERM: "tmux-256color",
    LANG: "C.UTF-8",
    ...env,
  };
  const variables = Object.entries(given).map(([name, value]) => quoted(`${name}=${value}`));
  const program = ["env", "-i", ...variables, quoted(process.execPath), quoted(bin), ...args.map(quoted)].join(" ");
  const line = `${before}; ${program}; echo "ended with $?"; exec sleep 600`;
  tmux("-u", "new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", cwd, line);
  const screen = () => tmux("capture-pane", "-p");
  return {
    keys: (...keys) => void tmux("send-keys", ...keys),
    type(text) {
      tmux("send-keys", "-l", text);
      tmux("send-keys", "Enter");
    },
    screen,
    history: () => tmux("capture-pane", "-p", "-S", "-"),
    resize: (x, y) => void tmux("resize-window", "-x", String(x), "-y", String(y)),
    async until(what, { ms = 20_000, every = 50 } = {}) {
      const fits = (text: string) =>
        typeof what === "string" ? text.includes(what) : typeof what === "function" ? what(text) : what.test(text);
      for (const begun = performance.now(); ; ) {
        const shown = screen();
        if (fits(shown)) return shown;
        if (performance.now() - begun >= ms) expect.fail(`${what} was not seen:\n${shown}`);
        await sleep(every);
      }
    },
    pid() {
      const shell = tmux("display-message", "-p", "#{pane_pid}").trim();
      const children = execFileSync("ps", ["-o", "pid=,args=", "--ppid", shell], { encoding: "utf8" }).split("\n");
      const own = children.find((one) => one.includes(bin));
      return Number(own?.trim().split(" ")[0]);
    },
    close() {
      spawnSync("tmux", ["-S", socket, "kill-server"]);
    },
  };
}
