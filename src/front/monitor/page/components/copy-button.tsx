// Copies a text: the whole of it, also where less is shown.
import { useEffect, useState } from "preact/hooks";
import { useParts } from "../parts.tsx";

const SAID_MS = 1500;

export function CopyButton({ text, what }: { text: string; what: string }) {
  const { announce } = useParts();
  const [said, setSaid] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () => {
    const say = (says: string) => {
      setSaid(says);
      announce(`${what}: ${says}`);
    };
    navigator.clipboard.writeText(text).then(
      () => say("copied"),
      () => say("not copied"),
    );
  };
  return (
    <button type="button" class="small" aria-label={`Copy ${what}`} onClick={copy}>
      {said ?? "copy"}
    </button>
  );
}
