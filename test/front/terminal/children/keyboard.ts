// A keyboard and a screen on a real terminal: says each key in a finished line, and ends in the way that its argument names.
import { openKeyboard } from "../../../../src/front/terminal/keyboard.ts";
import { createTerminalScreen } from "../../../../src/front/terminal/screen.ts";

const write = (bytes: string) => void process.stdout.write(bytes);
const screen = createTerminalScreen({ write, size: () => ({ columns: 200, rows: 40 }) });
const keyboard = openKeyboard({
  input: process.stdin,
  write,
  onTerminalName: (name) => screen.append([`terminal ${name}`]),
});
screen.show({ render: () => ({ lines: ["no caret"] }) });
screen.append([`ready ${process.pid}`]);

const end = process.argv[2];
keyboard.onKey((key) => {
  const said = key.kind === "paste" && key.text.length > 100 ? { paste: key.text.length } : key;
  // Letters only: the screen says the column again after an emoji.
  const ascii = JSON.stringify(said).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  screen.append([`key ${ascii}`]);
  if (key.kind !== "key" || key.data !== "q") return;
  if (end === "throw") throw new Error("nobody catches this");
  if (end === "exit") process.exit(3);
  if (end === "suspend") {
    keyboard.suspend();
    write(`raw ${process.stdin.isRaw}\r\n`);
    setTimeout(() => {
      keyboard.resume();
      write(`again ${process.stdin.isRaw}\r\n`);
    }, 20);
    return;
  }
  screen.close();
  keyboard.close();
});
