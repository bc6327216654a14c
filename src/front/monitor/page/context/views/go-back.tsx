// Fork and Restore from one checkpoint.
import { useState } from "preact/hooks";
import type { ContextKey } from "../../../api.ts";
import type { CheckpointRow } from "../../../context-api.ts";
import { useActing } from "../../components/acting.ts";
import { ActionAnswerLine } from "../../components/action-answer.tsx";
import { addressOf } from "../../router.ts";
import { RestoreDialog } from "../restore-dialog.tsx";

interface GoBackProps extends ContextKey {
  to: CheckpointRow;
  /** Where its files are. */
  folder: string;
  /** It was restored. */
  onBack(): void;
}

export function GoBack({ project, context, to, folder, onBack }: GoBackProps) {
  const { ask, answer, isAsking } = useActing({ project, context });
  const [isAsked, setAsked] = useState(false);
  const { seq, name, files } = to;
  return (
    <>
      <div class="buttons">
        <button type="button" aria-disabled={isAsking} onClick={() => ask({ action: "fork", seq })}>
          Fork here
        </button>
        <button type="button" onClick={() => setAsked(true)}>
          Restore here…
        </button>
      </div>
      {answer && <ActionAnswerLine answer={answer} />}
      {answer?.context !== undefined && (
        <a href={addressOf({ kind: "context", project, context: answer.context, view: "transcript" })}>Open the fork</a>
      )}
      {isAsked && (
        <RestoreDialog
          {...{ project, context, folder, to: { seq, name, files: files !== undefined } }}
          onClose={(isChanged) => {
            setAsked(false);
            if (isChanged) onBack();
          }}
        />
      )}
    </>
  );
}
