// Asks before a context goes back to a checkpoint: which parts, what that means, and what to do with what others changed meanwhile.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ContextKey } from "../../api.ts";
import type { ContextAt } from "../../context-api.ts";
import { useActing } from "../components/acting.ts";
import { ActionAnswerLine } from "../components/action-answer.tsx";

interface RestoreDialogProps extends ContextKey {
  to: NonNullable<ContextAt["restore"]>;
  /** Where its files are. */
  folder: string;
  /** `isChanged`: something was done. */
  onClose(isChanged: boolean): void;
}

const PARTS = ["conversation", "data", "files"] as const;
const SAYS: Readonly<Record<(typeof PARTS)[number], string>> = {
  conversation: "what the agents see ends at the checkpoint",
  data: "shared data gets the values of then",
  files: "files are written as they were then, in ",
};

export function RestoreDialog({ project, context, to, folder, onClose }: RestoreDialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const title = useId();
  const { answer, isAsking, ask } = useActing({ project, context });
  const [parts, setParts] = useState({ conversation: true, data: true, files: to.files });
  // The browser keeps the focus inside, ends it with Escape, and gives the focus back.
  useEffect(() => box.current?.showModal(), []);
  const [done, setDone] = useState<"restored" | "undone" | undefined>(undefined);
  const isDone = done !== undefined;
  const changed = answer?.paths ?? [];
  const goBack = async (more: { force?: boolean; keepChanged?: boolean }) => {
    const said = await ask(isDone ? { action: "undo", ...more } : { action: "restore", seq: to.seq, parts, ...more });
    if (said?.ok) setDone(isDone ? "undone" : "restored");
  };
  const verb = isDone ? "Undo" : "Restore";
  return (
    <dialog ref={box} class="restore" aria-labelledby={title} onClose={() => onClose(isDone)}>
      <h2 id={title}>
        Back to checkpoint <span class="others">{to.name}</span> (event {to.seq.toLocaleString("en-US")})?
      </h2>
      <p>
        Nothing is deleted: what came after stays in the ledger, a checkpoint of now is made first, and you can go back
        to it.
      </p>
      <fieldset disabled={isDone}>
        <legend>What goes back</legend>
        {PARTS.map((part) => (
          <label key={part}>
            <input
              type="checkbox"
              checked={parts[part]}
              disabled={part === "files" && !to.files}
              onChange={({ currentTarget }) => setParts({ ...parts, [part]: currentTarget.checked })}
            />
            <span>
              <b>{part}</b>: {part === "files" && !to.files ? "that checkpoint holds none" : SAYS[part]}
              {part === "files" && to.files && <code class="others">{folder}</code>}
            </span>
          </label>
        ))}
      </fieldset>
      <div role="status">{answer && <ActionAnswerLine answer={answer} />}</div>
      {changed.length > 0 && (
        <ul class="lines">
          {changed.map((path) => (
            <li key={path}>
              <code>{path}</code>
            </li>
          ))}
        </ul>
      )}
      <div class="dialog-buttons">
        {changed.length > 0 && (
          <>
            <button type="button" disabled={isAsking} onClick={() => void goBack({ keepChanged: true })}>
              {verb}, leave these files
            </button>
            <button type="button" disabled={isAsking} onClick={() => void goBack({ force: true })}>
              {verb} over them
            </button>
          </>
        )}
        {done === "restored" && changed.length === 0 && (
          <button type="button" disabled={isAsking} onClick={() => void goBack({})}>
            Undo
          </button>
        )}
        {!isDone && changed.length === 0 && (
          <button
            type="button"
            class="main"
            disabled={isAsking || !PARTS.some((part) => parts[part])}
            onClick={() => void goBack({})}
          >
            Restore
          </button>
        )}
        <button type="button" onClick={() => box.current?.close()}>
          {isDone ? "Close" : "Cancel"}
        </button>
      </div>
    </dialog>
  );
}
