// Who takes a key, what stands where, and questions one after the other: as data, without a terminal.
import { expect, test } from "vitest";
import { PLAIN } from "../../../src/front/presentation/style.ts";
import { type AppKeys, type AskedQuestion, createTerminalApp } from "../../../src/front/terminal/app.ts";
import type { Panel, TypedKey } from "../../../src/front/terminal/view.ts";
import type { ApprovalRequest } from "../../../src/mechanisms/approvals/events.ts";

const ESC = "\u001b";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const ALT_ENTER = "\u001b\r";
const SHIFT_TAB = "\u001b[Z";

function setUp({ working = false } = {}) {
  const told: string[] = [];
  const now = { at: 0, working };
  const tell = (name: string) => () => void told.push(name);
  const keys: AppKeys = {
    interrupt: () => told.push("interrupt") > 0 && now.working,
    leave: tell("leave"),
    submit: (text, { queued }) => void told.push(`${queued ? "queue" : "submit"} ${text}`),
    nextMode: tell("mode"),
    team: tell("team"),
    rewind: tell("rewind"),
    redraw: tell("redraw"),
    suspend: tell("suspend"),
  };
  let typed = "";
  const prompt = {
    text: () => typed,
    clear: () => {
      typed = "";
    },
    get isEmpty() {
      return typed === "";
    },
    hasList: false,
    remember: () => undefined,
    render: () => ({ lines: [`> ${typed}`], caret: { row: 0, column: 2 + typed.length } }),
    key: (key: TypedKey) => {
      typed += key.kind === "key" ? key.data : key.text;
      return true;
    },
  };
  const app = createTerminalApp({
    ...{ style: PLAIN, prompt, keys },
    parts: [{ render: () => ({ lines: ["live 1", "live 2"] }) }],
    status: { render: () => ({ lines: ["status"] }) },
    isWorking: () => now.working,
    changed: () => undefined,
    now: () => now.at,
  });
  const press = (...all: string[]) => {
    for (const data of all) app.key({ kind: "key", data });
  };
  return { app, told, press, now, typed: () => typed };
}

const panel = (name: string, taken: string[] = []): Panel => ({
  render: () => ({ lines: [name] }),
  key: (key) => {
    if (key.kind !== "key" || key.data === ESC) return false;
    taken.push(key.data);
    return true;
  },
});

const question = (name: string, signal = new AbortController().signal) => {
  let answer: Parameters<AskedQuestion["card"]>[0] = () => undefined;
  const asked: AskedQuestion = {
    request: { requestId: name } as ApprovalRequest,
    signal,
    card: async (answered) => {
      answer = answered;
      return panel(name);
    },
  };
  return { asked, answer: () => answer({ decision: "allow", from: "a test" }) };
};

const later = () => new Promise<void>((resolve) => setImmediate(resolve));
const SIZE = { columns: 40, rows: 10 };

test("the prompt takes keys, the caret stands in it, and the status line is the last", () => {
  const { app, press } = setUp();
  press("h", "i");
  expect(app.render(SIZE)).toEqual({ lines: ["live 1", "live 2", "", "> hi", "status"], caret: { row: 3, column: 4 } });
});

test("where there is no room, whoever takes keys and the status line are seen", () => {
  const { app } = setUp();
  expect(app.render({ columns: 40, rows: 4 })).toEqual({
    lines: ["", "> ", "status"],
    caret: { row: 1, column: 2 },
  });
});

test("Ctrl-C clears what was typed, then asks once, then leaves; while it works it interrupts", () => {
  const { press, told, typed, now, app } = setUp();
  press("h", "i", CTRL_C);
  expect([typed(), told]).toEqual(["", []]);
  press(CTRL_C);
  expect(app.render(SIZE).lines).toContain("Ctrl-C once more leaves.");
  press(CTRL_C);
  expect(told).toEqual(["leave"]);
  now.working = true;
  press("x", CTRL_C);
  expect([told, typed()]).toEqual([["leave", "interrupt"], "x"]);
  press(CTRL_C);
  expect(told).toEqual(["leave", "interrupt", "leave"]);
});

test("Ctrl-C twice means leaving only when the second comes soon", () => {
  const { press, told, now } = setUp();
  press(CTRL_C);
  now.at = 10_000;
  press(CTRL_C);
  expect(told).toEqual([]);
});

test("Esc interrupts while it works; twice at an empty prompt it goes back", () => {
  const { press, told, now } = setUp({ working: true });
  press(ESC);
  now.working = false;
  press(ESC, ESC);
  expect(told).toEqual(["interrupt", "rewind"]);
});

test("Alt-Enter queues what was typed, Shift-Tab is the next mode, Ctrl-D leaves an empty prompt only", () => {
  const { press, told, typed } = setUp();
  press("a", "b", CTRL_D, SHIFT_TAB, ALT_ENTER);
  expect([told, typed()]).toEqual([["mode", `queue ab${CTRL_D}`], ""]);
  press(CTRL_D);
  expect(told.at(-1)).toBe("leave");
});

test("a panel takes keys in front of the prompt, and Esc or its end takes it away", () => {
  const { app, press, typed } = setUp();
  const taken: string[] = [];
  const close = app.open(panel("list", taken));
  press("x");
  expect([app.render(SIZE).lines, taken, typed()]).toEqual([["live 1", "live 2", "", "list", "status"], ["x"], ""]);
  press(ESC, "y");
  expect([taken, typed()]).toEqual([["x"], "y"]);
  close(); // again, after it was gone
  expect(app.render(SIZE).lines).toEqual(["live 1", "live 2", "", "> y", "status"]);
});

test("questions come one after the other, and one that is answered elsewhere goes by itself", async () => {
  const { app } = setUp({ working: true });
  const elsewhere = new AbortController();
  const [first, second, third] = [question("first"), question("second", elsewhere.signal), question("third")];
  const answers = Promise.all([first, second, third].map(({ asked }) => app.ask(asked)));
  await later();
  expect([app.waiting, app.render(SIZE).lines[3]]).toEqual([3, "first"]);
  first.answer();
  await later();
  expect(app.render(SIZE).lines[3]).toBe("second");
  elsewhere.abort();
  await later();
  expect(app.render(SIZE).lines[3]).toBe("third");
  third.answer();
  await later();
  expect([await answers, app.render(SIZE).lines[3]]).toEqual([
    [{ decision: "allow", from: "a test" }, undefined, { decision: "allow", from: "a test" }],
    "> ",
  ]);
});

test("Esc and Ctrl-C at a question interrupt the turn: the card does not take them", async () => {
  const { app, press, told } = setUp({ working: true });
  void app.ask(question("first").asked);
  await later();
  press(ESC);
  press(CTRL_C);
  expect(told).toEqual(["interrupt", "interrupt"]);
});

test("Esc at a question of an agent that is not the lead leaves it open, for others to answer", async () => {
  const { app, press, told } = setUp();
  const asked = app.ask(question("alice's").asked);
  await later();
  press(ESC);
  expect([await asked, told, app.waiting]).toEqual([undefined, ["interrupt"], 0]);
});
