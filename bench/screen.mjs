// What streaming costs the terminal: 2,000 words at 200 a second through the screen, with a status line and an editor below. Nothing is shown.
//   node bench/screen.mjs [words] [words a second]
import { createTerminalScreen } from "../src/front/terminal/screen.ts";

const words = Number(process.argv[2] ?? 2000);
const rate = Number(process.argv[3] ?? 200);
const COLUMNS = 100;

const total = { bytes: 0, frames: 0, eraseLine: 0, clears: 0 };
const screen = createTerminalScreen({
  size: () => ({ columns: COLUMNS, rows: 30 }),
  write(bytes) {
    total.bytes += Buffer.byteLength(bytes);
    total.frames += 1;
    total.eraseLine += bytes.match(/\u001b\[[0-2]?K/g)?.length ?? 0;
    total.clears += bytes.match(/\u001b\[[23]J/g)?.length ?? 0;
  },
});

let line = "";
let typed = "";
const startedAt = performance.now();
const rule = `\u001b[2m${"─".repeat(COLUMNS)}\u001b[22m`;
screen.show({
  render: () => {
    const seconds = Math.floor((performance.now() - startedAt) / 1000);
    const status = `\u001b[36m●\u001b[39m Answering · ${seconds} s · esc to interrupt`;
    const lines = [
      line,
      "",
      status,
      rule,
      `> ${typed}`,
      rule,
      "\u001b[2m model · 12 % of the context · /help\u001b[22m",
    ];
    return { lines, caret: { row: 4, column: 2 + typed.length } };
  },
});

/** A paragraph each 12 words, broken where the screen ends. */
function stream(i) {
  const word = `w${i}`;
  if (line.length + word.length > COLUMNS) {
    screen.append([line.trimEnd()]);
    line = "";
  }
  line += `${word} `;
  if (i % 12 === 11) {
    screen.append([line.trimEnd(), ""]);
    line = "";
  }
  screen.changed();
}

let sent = 0;
const cpu = process.cpuUsage();
await new Promise((done) => {
  const timer = setInterval(() => {
    const due = Math.min(words, Math.floor(((performance.now() - startedAt) / 1000) * rate));
    while (sent < due) stream(sent++);
    if (sent < words) return;
    clearInterval(timer);
    done();
  }, 5);
  const keys = setInterval(() => {
    typed = typed.length > 40 ? "" : `${typed}x`;
    screen.changed("at once");
    if (sent >= words) clearInterval(keys);
  }, 250);
});
screen.close();
const { user, system } = process.cpuUsage(cpu);
console.log(`${words} words at ${rate}/s in ${total.frames} frames
bytes per word        ${(total.bytes / words).toFixed(1)}
erase-line sequences  ${total.eraseLine}
screen clears         ${total.clears}
CPU s                 ${((user + system) / 1e6).toFixed(2)}`);
