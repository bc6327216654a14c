// The terminal in plain lines, for screen readers and terminals that only take lines: nothing is drawn over, no timer, a bell at the end of a turn.
import { createInterface } from "node:readline";
import { LEAD } from "../../loop/agent.ts";
import { previewChange } from "../../mechanisms/files/change-preview.ts";
import { isDumb, PLAIN, styleFor } from "../presentation/style.ts";
import { createTally } from "../presentation/tally.ts";
import { createApprovalCard } from "./approval-card.ts";
import { createRunning } from "./running.ts";
import type { OpenTerminal, TerminalOptions } from "./terminal.ts";
import { createTranscript } from "./transcript.ts";
import type { Panel, Size } from "./view.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
/** Typed alone it leaves a list or a page. */
const LEAVE = ".";

/** Contract: as the drawn one; a panel is printed, and takes the lines that are typed: letters, then Enter. */
export function openPlainTerminal({ keys, status }: TerminalOptions): OpenTerminal {
  const { stdin, stdout } = process;
  const style = isDumb(process.env) ? PLAIN : styleFor(stdout, process.env);
  const size = (): Size => ({ columns: stdout.columns || 80, rows: 1_000 });
  const tally = createTally();
  const running = createRunning({ style, lead: LEAD, now: () => Date.now() });
  const panels: Panel[] = [];
  const questions: (() => void)[] = [];
  const lines = createInterface({ input: stdin, output: stdout, terminal: !isDumb(process.env), prompt: "> " });
  const print = (more: readonly string[]) => void stdout.write(`${more.join("\n")}\n`);
  const transcript = createTranscript({
    ...{ style, size, running, tally },
    append: print,
    changed: () => undefined,
    isPlain: true,
  });
  let wasWorking = false;

  /** A turn that ended is heard, and then the prompt stands there again. */
  function settle(): void {
    const isWorking = running.isAtWork();
    if (wasWorking && !isWorking) {
      const { model, mode, context } = status();
      print([style.dim([model, mode, ...(context ? [context] : []), tally.short()].filter(Boolean).join(" · "))]);
      stdout.write("\u0007");
      lines.prompt();
    }
    wasWorking = isWorking;
  }

  function show(panel: Panel): void {
    print(panel.render(size()).lines);
    lines.prompt();
  }

  function open(panel: Panel): () => void {
    panels.push(panel);
    print([style.dim(`(type your choice, then Enter; "${LEAVE}" alone leaves)`)]);
    show(panel);
    return () => {
      const at = panels.indexOf(panel);
      if (at >= 0) panels.splice(at, 1);
    };
  }

  function typed(line: string): void {
    const panel = panels.at(-1);
    if (!panel) {
      if (line.trim() !== "") keys.submit(line.trim(), { queued: false });
      return;
    }
    const pressed = line.trim() === LEAVE ? [ESCAPE] : [...line, ...(line.length === 1 ? [] : [ENTER])];
    for (const data of pressed) panel.key({ kind: "key", data });
    if (panels.at(-1) === panel) show(panel);
  }

  lines.on("line", typed);
  lines.on("SIGINT", () => (running.isAtWork() ? keys.interrupt() : keys.leave()));
  lines.on("close", () => keys.leave());
  lines.prompt();

  /** One question at a time. */
  async function inTurn<T>(ask: () => Promise<T>): Promise<T> {
    if (questions.push(() => undefined) > 1)
      await new Promise<void>((resolve) => (questions[questions.length - 1] = resolve));
    try {
      return await ask();
    } finally {
      questions.shift();
      questions[0]?.();
    }
  }

  return {
    ...{ running, tally, style, size },
    transcript: {
      ...transcript,
      event(event) {
        transcript.event(event);
        settle();
      },
    },
    prompt: { remember: () => undefined },
    changed: () => undefined,
    app: { open, notice: (line) => print([line]) },
    suspended: (work) => work(),
    ask: (request, signal) =>
      inTurn(async () => {
        const change = await previewChange(request.tool, request.input, request.cwd);
        return new Promise((resolve) => {
          if (signal.aborted) return resolve(undefined);
          const end = (answer?: Parameters<Parameters<typeof createApprovalCard>[0]["answered"]>[0]) => {
            signal.removeEventListener("abort", gone);
            close();
            resolve(answer);
          };
          const gone = () => end();
          signal.addEventListener("abort", gone, { once: true });
          const now = () => Date.now();
          const about = { request, ...(change && { change }), waiting: 0, style };
          const close = open(
            createApprovalCard({ ...about, shownAt: now(), now, answered: end, changed: () => undefined }),
          );
        });
      }),
    close() {
      lines.close();
    },
  };
}
