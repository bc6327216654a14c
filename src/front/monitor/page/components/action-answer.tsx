// What the server said to what a person did, also where somebody else was first.
import type { ActionAnswer } from "../../api.ts";
import { NOT_KNOWN } from "./acting.ts";

export function ActionAnswerLine({ answer, of }: { answer: ActionAnswer; of?: string | undefined }) {
  return (
    <p class={`action-answer ${answer.ok ? "tone-good" : "tone-bad"}`}>
      <span class="sign" aria-hidden="true">
        {answer.ok ? "✓" : "!"}
      </span>
      <span>
        {!answer.ok && answer.code !== NOT_KNOWN && <b>Nothing was changed: </b>}
        <span class="others">{answer.says}</span>
        {of !== undefined && <span class="others quiet-ink"> {of}</span>}
      </span>
    </p>
  );
}
