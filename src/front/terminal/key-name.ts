// What was pressed, in words: the name of a key, and the text that it types.
import { decodeKittyPrintable, isKeyRelease, parseKey } from "@earendil-works/pi-tui";

export interface Pressed {
  /** `up`, `enter`, `ctrl+c`, `space`; of any other character the character itself. Undefined: a key that is let go, or none. */
  name?: string;
  /** What it types. */
  text?: string;
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function pressed(data: string): Pressed {
  if (data === "" || isKeyRelease(data)) return {};
  if (!CONTROL.test(data)) return typed(data);
  const name = parseKey(data);
  const [, capital] = /^shift\+([a-z])$/.exec(name ?? "") ?? [];
  const text = capital?.toUpperCase() ?? decodeKittyPrintable(data);
  if (text !== undefined) return typed(text);
  return name === undefined ? {} : { name };
}

const typed = (text: string): Pressed => ({ name: text === " " ? "space" : text, text });
