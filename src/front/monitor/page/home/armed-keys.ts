// Whether a single key may answer: not after something was typed, until a person has moved to a card on purpose.
import { useEffect, useRef } from "preact/hooks";

export interface ArmedKeys {
  now(): boolean;
  /** They moved on purpose. */
  arm(): void;
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("textarea, input, select");

export function useArmedKeys(): ArmedKeys {
  const isArmed = useRef(true);
  const arm = () => {
    isArmed.current = true;
  };
  useEffect(() => {
    const disarm = () => {
      isArmed.current = false;
    };
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (key === "Tab" || (key.startsWith("Arrow") && !isField(target))) arm();
    };
    document.addEventListener("input", disarm);
    document.addEventListener("pointerdown", arm);
    document.addEventListener("keydown", onKey, true);
    return () => {
      document.removeEventListener("input", disarm);
      document.removeEventListener("pointerdown", arm);
      document.removeEventListener("keydown", onKey, true);
    };
  }, []);
  return { now: () => isArmed.current, arm };
}
