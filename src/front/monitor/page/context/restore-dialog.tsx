// Asks before a context goes back to a checkpoint: which parts, what that means, and what to do with what others changed meanwhile.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ContextKey } from "../../api.ts";
import type { ContextAt } from "../../context-api.ts";
import { useActing } from "../components/acting.ts";
import { ActionAnswerLine } from "../components/action-answer.tsx";

interface RestoreDialogProps extends ContextKey {
  to: NonNullable<ContextAt["restore"]>;
  onClose(): void;
}

const PARTS = ["conversation", "data", "files"] as const;
const SAYS: Readonly<Record<(typeof PARTS)[number], string>> = {
  conversation: "what the agents see ends at the checkpoint",
  data: "shared data gets the values of then",
  files: "the folder's files are written as they were then",
};

export function RestoreDialog({ project, context, to, onClose }: RestoreDialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const title = useId();
  const { answer, isAsking, ask } = useActing({ project, context });
  const [parts, setParts] = useState({ conversation: true, data: true, files: to.files });
  // The browser keeps the focus inside, ends it with Escape, and gives the focus back.
  useEffect(() => box.current?.showModal(), []);
  const isDone = answer?.ok === true;
  const changed = answer?.paths ?? [];
  const restore = (more: { force?: boolean; keepChanged?: boolean }) =>
    void ask({ action: "restore", seq: to.seq, parts, ...more });
  return (
    <dialog ref={box} class="restore" aria-labelledby={title} onClose={onClose}>
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
            <button type="button" disabled={isAsking} onClick={() => restore({ keepChanged: true })}>
              Restore, leave these files
            </button>
            <button type="button" disabled={isAsking} onClick={() => restore({ force: true })}>
              Restore over them
            </button>
          </>
        )}
        {!isDone && changed.length === 0 && (
          <button
            type="button"
            class="main"
            disabled={isAsking || !PARTS.some((part) => parts[part])}
            onClick={() => restore({})}
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
