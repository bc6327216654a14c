// While a moment is looked at: that it is not now, and what can be done from there.
import { useEffect, useState } from "preact/hooks";
import type { ContextKey } from "../../api.ts";
import type { ContextAt } from "../../context-api.ts";
import { contextPath } from "../client.ts";
import { useActing } from "../components/acting.ts";
import { ActionAnswerLine } from "../components/action-answer.tsx";
import { CopyButton } from "../components/copy-button.tsx";
import { ago, moment } from "../format.ts";
import { useNow, useParts } from "../parts.tsx";
import { addressOf } from "../router.ts";
import { RestoreDialog } from "./restore-dialog.tsx";
import { saveAs } from "./save-as.ts";
import type { Moment } from "./use-moment.ts";

interface MomentBarProps extends ContextKey {
  looked: Moment;
  /** Where its files are. */
  folder: string;
  isReadOnly: boolean;
}

export function MomentBar({ project, context, looked, folder, isReadOnly }: MomentBarProps) {
  const { client, announce } = useParts();
  const now = useNow();
  const key = { project, context };
  const forking = useActing(key);
  const [isAsked, setAsked] = useState(false);
  const [saved, setSaved] = useState<string | undefined>(undefined);
  const { wanted, problem } = looked;
  const at = looked.at?.seq === wanted ? looked.at : undefined;
  // What was said belongs to the moment that it was said of.
  useEffect(() => setSaved(undefined), [wanted]);
  const saveAsTest = async () => {
    const says = await client.bytes(`${contextPath(key)}/test`).then(
      (bytes) => saveAs(bytes, `${context}.jsonl`),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    setSaved(says);
    announce(says);
  };
  return (
    <section class="moment-bar" aria-label="A moment of before">
      <p>
        <b>As it was at event {wanted?.toLocaleString("en-US")}</b>
        {at && (
          <span class="quiet-ink">
            {" "}
            ({moment(at.at, now)}, {ago(now - at.at)} ago)
          </span>
        )}
      </p>
      <div class="moment-actions">
        <button type="button" class="main small" onClick={() => looked.goTo(undefined)}>
          Back to now
        </button>
        <button
          type="button"
          class="small"
          disabled={!at || forking.isAsking}
          aria-describedby="fork-says"
          onClick={() => at && void forking.ask({ action: "fork", seq: at.seq })}
        >
          Fork here
        </button>
        <button type="button" class="small" disabled={!at?.restore || isReadOnly} onClick={() => setAsked(true)}>
          Restore here…
        </button>
        <button
          type="button"
          class="small"
          title="What was recorded of this context, as a fixture that tests replay"
          onClick={() => void saveAsTest()}
        >
          Save as test
        </button>
      </div>
      <p id="fork-says" class="quiet-ink fork-says">
        {at ? forkSays(at) : (problem ?? "…")}
      </p>
      {forking.answer && (
        <div role="status" class="forked">
          <ActionAnswerLine answer={forking.answer} />
          {forking.answer.context !== undefined && (
            <Forked project={project} context={forking.answer.context} command={forking.answer.command} />
          )}
        </div>
      )}
      {saved !== undefined && <p class="others">{saved}</p>}
      {isAsked && at?.restore && (
        <RestoreDialog
          {...{ project, context, folder, to: at.restore }}
          onClose={(isChanged) => {
            setAsked(false);
            if (isChanged) looked.goTo(undefined);
          }}
        />
      )}
    </section>
  );
}

function forkSays({ fork, restore }: ContextAt): string {
  const first = fork.request
    ? ` and first sends the request of round ${fork.request.n} of ${fork.request.agent}, byte for byte`
    : "";
  const back = restore
    ? `Restore goes back to checkpoint ${restore.name}.`
    : "There is no checkpoint before it to restore.";
  return `A fork begins at event ${fork.seq.toLocaleString("en-US")}${first}. ${back}`;
}

function Forked({ project, context, command = "" }: ContextKey & { command?: string | undefined }) {
  return (
    <p>
      <a href={addressOf({ kind: "context", project, context, view: "transcript" })}>{context}</a>{" "}
      <code>{command}</code> <CopyButton text={command} what="the command" />
    </p>
  );
}
