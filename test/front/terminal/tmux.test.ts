// The screen in a real tmux, which breaks long lines in its own way when it gets narrower.
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import readline from "node:readline";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Size } from "../../../src/front/terminal/view.ts";
import { tempDir } from "../../house.ts";
import type { Told } from "./children/screen.ts";
import { SHELL_LINES } from "./headless.ts";
import { bare, PIECES, steps, viewAt, withoutEmptyEnd } from "./random-screens.ts";

const isThere = spawnSync("tmux", ["-V"]).status === 0;

interface Tmux {
  tell(told: Told): Promise<Size>;
  resize(size: Size): Promise<void>;
  lines(): Promise<string[]>;
  cursor(): Promise<{ column: number; text: string }>;
  end(): Promise<void>;
}

async function openTmux({ columns, rows }: Size): Promise<Tmux> {
  const dir = tempDir("tmux");
  const { TMUX: _, ...outside } = process.env;
  const env = { ...outside, TMUX_TMPDIR: dir, LC_ALL: "C.UTF-8" };
  const run = async (...args: string[]) =>
    (await promisify(execFile)("tmux", ["-L", "screen", "-f", "/dev/null", ...args], { env })).stdout;
  const server = net.createServer().listen(path.join(dir, "told"));
  const child = [process.execPath, path.join(import.meta.dirname, "children/screen.ts"), path.join(dir, "told")];
  const shell = `printf 'shell-line-%02d\\n' $(seq 1 ${SHELL_LINES.length}); stty raw -echo; exec ${child.map((word) => `'${word}'`).join(" ")}`;
  const connected = once(server, "connection");
  await run("new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, `sleep 0.2; ${shell}; sleep 5`);
  await run("set", "-g", "window-size", "manual");
  await run("resize-window", "-x", `${columns}`, "-y", `${rows}`);
  const [socket] = (await connected) as [net.Socket];
  const answers = readline.createInterface({ input: socket })[Symbol.asyncIterator]();
  const tell = async (told: Told): Promise<Size> => {
    socket.write(`${JSON.stringify(told)}\n`);
    return JSON.parse((await answers.next()).value ?? "null");
  };
  return {
    tell,
    async resize(size) {
      await run("resize-window", "-x", `${size.columns}`, "-y", `${size.rows}`);
    },
    lines: async () => (await run("capture-pane", "-p", "-J", "-S", "-")).split("\n").map((line) => line.trimEnd()),
    async cursor() {
      const at = (await run("display", "-p", "#{cursor_x} #{cursor_y}")).trim().split(" ").map(Number);
      const screen = (await run("capture-pane", "-p")).split("\n");
      return { column: at[0]!, text: screen[at[1]!]!.trimEnd() };
    },
    async end() {
      socket.destroy();
      server.close();
      await run("kill-server").catch(() => undefined); // it may have left by itself
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}

test.skipIf(!isThere && !process.env.CI)(
  "in tmux nothing is lost, nothing is left behind and the cursor is on the caret, whatever sizes it gets",
  async () => {
    const roomy = steps({ pieces: PIECES, columns: [50, 150], rows: [30, 50], live: 6, both: true });
    const lives = fc.sample(roomy, { numRuns: Number(process.env.FC_RUNS ?? 1), seed: Number(process.env.SEED ?? 7) });
    for (const life of lives) {
      let size: Size = { columns: 100, rows: 30 };
      const tmux = await openTmux(size);
      const appended: string[] = [];
      try {
        for (const { resize, append = [], live, caret } of life) {
          const lines = append.map((line, i) => `[${appended.length + i}] ${line}`);
          appended.push(...lines);
          size = { ...size, ...resize };
          if (resize) await tmux.resize(size);
          // The program hears of its new size by a signal.
          await expect.poll(() => tmux.tell(null)).toEqual(size);
          await tmux.tell({ append: lines, live, caret });
          const view = viewAt(live, caret, size);
          const expected = [...SHELL_LINES, ...appended.map(bare), ...view.lines.map(bare)];
          await expect.poll(async () => withoutEmptyEnd(await tmux.lines())).toEqual(withoutEmptyEnd(expected));
          const { column, text } = await tmux.cursor();
          expect({ column, text }).toEqual({
            column: view.caret?.column ?? 0,
            text: bare(view.lines[view.caret?.row ?? 0] ?? ""),
          });
        }
        await tmux.tell({ live: [], caret: 0, close: true });
        const expected = [...SHELL_LINES, ...appended.map(bare), "closed"];
        await expect.poll(async () => withoutEmptyEnd(await tmux.lines())).toEqual(expected);
      } finally {
        await tmux.end();
      }
    }
  },
);
