// A screen on a real terminal that draws what it is told through a socket, and answers with the size it drew for.
import net from "node:net";
import { reflowOf } from "../../../../src/front/terminal/reflow.ts";
import { createTerminalScreen } from "../../../../src/front/terminal/screen.ts";
import { viewAt } from "../random-screens.ts";

/** `null`: only a question for the size. */
export type Told = Drawn | null;

interface Drawn {
  append?: string[];
  live: string[];
  caret: number;
  close?: boolean;
}

const size = () => ({ columns: process.stdout.columns, rows: process.stdout.rows });
const screen = createTerminalScreen({
  write: (bytes) => void process.stdout.write(bytes),
  size,
  reflow: () => reflowOf(process.env),
});
process.stdout.on("resize", () => screen.resized());

let told: Drawn = { live: [], caret: 0 };
screen.show({ render: (at) => viewAt(told.live, told.caret, at) });
const socket = net.connect(process.argv[2]!);
let rest = "";
socket.on("data", (data) => {
  const lines = (rest + data).split("\n");
  rest = lines.pop()!;
  for (const line of lines) {
    const next: Told = JSON.parse(line);
    if (next === null) {
      socket.write(`${JSON.stringify(size())}\n`);
      continue;
    }
    told = next;
    if (told.append) screen.append(told.append);
    if (told.close) screen.close(["closed"]);
    else screen.changed("at once");
    setImmediate(() => socket.write(`${JSON.stringify(size())}\n`));
  }
});
