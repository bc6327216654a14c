// The keys that do something now.
import { useEffect, useRef } from "preact/hooks";
import { useParts } from "./parts.tsx";

export function KeysHelp({ onClose }: { onClose(): void }) {
  const { keyboard } = useParts();
  const box = useRef<HTMLDialogElement>(null);
  // The browser keeps the focus inside, ends it with Escape, and gives the focus back.
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} class="keys" aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys</h2>
      <dl>
        {keyboard.all().map(({ keys, says }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
