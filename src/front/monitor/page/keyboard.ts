// Keys of the page: what each does now, one place for all. Views bind theirs while they are shown; the newest counts.

export interface KeyBinding {
  /** As a key says its name: `j`, `?`, `Escape`, `ArrowDown`; one after the other: `g n`. */
  keys: string;
  /** For the list of keys. */
  says: string;
  /** A key that is held down does it once. */
  isOnce?: true;
  /** Undefined: what has the focus does it by itself; it is only listed. */
  run?(): void;
}

/** What of a key event counts. */
interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  defaultPrevented: boolean;
  /** It is held down. */
  repeat: boolean;
  /** It is typed into a field. */
  isTyping: boolean;
}

export interface Keyboard {
  bind(bindings: readonly KeyBinding[]): () => void;
  /** Gives whether something was done with it. */
  press(press: KeyPress): boolean;
  /** The keys that do something now, each once. */
  all(): KeyBinding[];
}

const TOGETHER_MS = 1500;

export function createKeyboard(now: () => number = Date.now): Keyboard {
  const layers: (readonly KeyBinding[])[] = [];
  let before: { key: string; at: number } | undefined;

  const find = (keys: string): KeyBinding | undefined =>
    layers
      .toReversed()
      .flat()
      .find((one) => one.run !== undefined && one.keys === keys);

  return {
    bind(bindings) {
      layers.push(bindings);
      return () => {
        const place = layers.indexOf(bindings);
        if (place >= 0) layers.splice(place, 1);
      };
    },
    press({ key, ctrlKey, metaKey, altKey, defaultPrevented, repeat, isTyping }) {
      if (defaultPrevented || ctrlKey || metaKey || altKey) return false;
      if (isTyping && key !== "Escape") return false;
      const first = before && now() - before.at < TOGETHER_MS ? before.key : undefined;
      before = undefined;
      const binding = (first !== undefined && find(`${first} ${key}`)) || find(key);
      if (binding) {
        if (!repeat || !binding.isOnce) binding.run?.();
        return true;
      }
      const begins = layers.flat().some(({ keys }) => keys.startsWith(`${key} `));
      if (begins) before = { key, at: now() };
      return begins;
    },
    all() {
      const found = new Map<string, KeyBinding>();
      for (const one of layers.toReversed().flat()) if (!found.has(one.keys)) found.set(one.keys, one);
      return [...found.values()];
    },
  };
}
