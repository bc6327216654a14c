// The keyboard: a terminal in raw mode that gives whole keys and pastes, and is as it was before however the process ends.
import { StringDecoder } from "node:string_decoder";
import { setKittyProtocolActive } from "@earendil-works/pi-tui/dist/keys.js";
import { StdinBuffer } from "@earendil-works/pi-tui/dist/stdin-buffer.js";
import { restoreAtExit } from "./at-exit.ts";
import type { TypedKey } from "./view.ts";

export interface Keyboard {
  /** What was typed before somebody took it is kept for the first that does. */
  onKey(take: (key: TypedKey) => void): void;
  /** Gives the terminal back for good. */
  close(): void;
  /** Gives the terminal back for a while: to an editor, to the shell. */
  suspend(): void;
  resume(): void;
}

export interface KeyboardOptions {
  input: NodeJS.ReadStream;
  write: (bytes: string) => void;
  /** The terminal is asked for its name only if somebody wants to know it; many never answer. */
  onTerminalName?: (name: string) => void;
}

const PASTES_ON = "\u001b[?2004h";
const PASTES_OFF = "\u001b[?2004l";
/** Keys that look alike to an old terminal (Escape and Alt, Enter and Shift+Enter) get codes of their own. */
const CLEAR_KEYS_ON = "\u001b[>1u";
const CLEAR_KEYS_OFF = "\u001b[<u";
const ASK_CLEAR_KEYS = "\u001b[?u";
const ASK_NAME = "\u001b[>q";

export function openKeyboard({ input, write, onTerminalName }: KeyboardOptions): Keyboard {
  const sequences = new StdinBuffer();
  const takers: ((key: TypedKey) => void)[] = [];
  let waiting: TypedKey[] = [];
  /** The first half of a character that is two units long. */
  let half = "";
  let knowsClearKeys = false;
  let off: (() => void) | undefined;

  function give(key: TypedKey): void {
    if (takers.length === 0) waiting.push(key);
    for (const take of takers) take(key);
  }

  function clearKeys(): void {
    knowsClearKeys = true;
    setKittyProtocolActive(true);
    write(CLEAR_KEYS_ON);
  }

  sequences.on("data", (sequence) => {
    if (/^\u001b\[\?\d+u$/.test(sequence)) {
      if (off && !knowsClearKeys) clearKeys();
      return;
    }
    const name = /^\u001bP>\|(.*)\u001b\\$/s.exec(sequence);
    if (name) {
      onTerminalName?.(name[1]!);
      return;
    }
    const data = half + sequence;
    half = /^[\ud800-\udbff]$/.test(data) ? data : "";
    if (half === "") give({ kind: "key", data });
  });
  sequences.on("paste", (text) => give({ kind: "paste", text }));

  function turnOn(): void {
    const decoder = new StringDecoder("utf8");
    const onData = (data: Buffer | string) => sequences.process(typeof data === "string" ? data : decoder.write(data));
    const wasRaw = input.isRaw;
    if (input.isTTY) input.setRawMode(true);
    input.on("data", onData);
    input.resume();
    write(PASTES_ON + (knowsClearKeys ? "" : ASK_CLEAR_KEYS) + (knowsClearKeys || !onTerminalName ? "" : ASK_NAME));
    if (knowsClearKeys) clearKeys();
    const turnOff = () => {
      off = undefined;
      forget();
      input.off("data", onData);
      input.pause();
      sequences.clear();
      half = "";
      setKittyProtocolActive(false);
      // The terminal's own settings first: they are needed even where nothing can be written any more.
      if (input.isTTY) input.setRawMode(wasRaw ?? false);
      write((knowsClearKeys ? CLEAR_KEYS_OFF : "") + PASTES_OFF);
    };
    const forget = restoreAtExit(turnOff);
    off = turnOff;
  }

  let isClosed = false;
  turnOn();
  return {
    onKey(take) {
      takers.push(take);
      const typed = waiting;
      waiting = [];
      for (const key of typed) take(key);
    },
    close() {
      isClosed = true;
      off?.();
    },
    suspend: () => off?.(),
    resume() {
      if (!isClosed && !off) turnOn();
    },
  };
}
