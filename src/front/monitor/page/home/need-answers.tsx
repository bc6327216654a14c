// The answers that a person can give: to a call that asks first, to a plan, to a question.
import { useId, useRef, useState } from "preact/hooks";
import type { Need } from "../../api.ts";
import type { Acting } from "../components/acting.ts";
import type { CardKeys } from "./need-card.tsx";

interface AnswersProps<Kind extends Need["kind"]> {
  need: Extract<Need, { kind: Kind }>;
  acting: Acting;
  /** Filled in here. */
  keys: CardKeys;
}

type Scope = Extract<Need, { kind: "approval" }>["choices"][number]["scope"];

const LABELS: Record<Scope, string> = {
  once: "Allow once",
  exactly: "Allow exactly",
  rule: "Allow by rule…",
  no: "Refuse",
};

function KeySign({ name }: { name: string }) {
  return (
    <span class="key-sign" aria-hidden="true">
      {name}
    </span>
  );
}

export function ApprovalAnswers({ need, acting, keys }: AnswersProps<"approval">) {
  const [why, setWhy] = useState("");
  const [isRuleShown, setRuleShown] = useState(false);
  const { id, choices } = need;
  const rule = choices.find(({ scope }) => scope === "rule");
  const given = why.trim();
  const answer = (scope: Scope) =>
    void acting.ask({ action: "approve", id, scope, ...(scope === "no" && given !== "" && { reason: given }) });
  // What is not shown whole cannot be allowed.
  keys.yes = choices.some(({ scope }) => scope === "once") ? () => answer("once") : undefined;
  keys.no = () => answer("no");
  const choose = (scope: Scope) => (scope === "rule" ? setRuleShown(!isRuleShown) : answer(scope));
  return (
    <>
      <div class="answers">
        {choices.map(({ scope, says }) => (
          <button
            key={scope}
            type="button"
            class={scope === "once" ? "main" : ""}
            title={says}
            aria-disabled={acting.isAsking}
            aria-expanded={scope === "rule" ? isRuleShown : undefined}
            onClick={() => choose(scope)}
          >
            {LABELS[scope]}
            {scope === "once" && <KeySign name="a" />}
            {scope === "no" && <KeySign name="x" />}
          </button>
        ))}
        <input
          class="grow"
          aria-label="Why not (optional)"
          placeholder="why not?"
          value={why}
          onInput={(event) => setWhy(event.currentTarget.value)}
          // An Enter that ends a word of Japanese is not meant for the answer.
          onKeyDown={(event) => event.key === "Enter" && !event.isComposing && answer("no")}
        />
      </div>
      {isRuleShown && rule && (
        <div class="rule">
          <p class="others">{rule.says}</p>
          <button type="button" aria-disabled={acting.isAsking} onClick={() => answer("rule")}>
            Allow and keep the rule
          </button>
          <button type="button" class="quiet" onClick={() => setRuleShown(false)}>
            Back
          </button>
        </div>
      )}
    </>
  );
}

export function PlanAnswers({ need, acting, keys }: AnswersProps<"plan">) {
  const [feedback, setFeedback] = useState("");
  const [isMissing, setMissing] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  const answer = (approve: boolean) => {
    const given = feedback.trim();
    const lacks = !approve && given === "";
    setMissing(lacks);
    if (lacks) field.current?.focus();
    else void acting.ask({ action: "plan", id: need.id, approve, feedback: given });
  };
  const mayApprove = need.isCut !== true;
  keys.yes = mayApprove ? () => answer(true) : undefined;
  keys.no = () => answer(false);
  return (
    <>
      {!mayApprove && (
        <p class="quiet-ink">
          It is too long to be shown whole: read and approve it in a terminal, with <code>holdfast team plans</code>.
        </p>
      )}
      <div class="answers">
        {mayApprove && (
          <button type="button" class="main" aria-disabled={acting.isAsking} onClick={() => answer(true)}>
            Approve
            <KeySign name="a" />
          </button>
        )}
        <button type="button" aria-disabled={acting.isAsking} onClick={() => answer(false)}>
          Reject
          <KeySign name="x" />
        </button>
        <textarea
          ref={field}
          rows={1}
          aria-label={`Feedback for ${need.agent}: needed to reject`}
          aria-describedby={isMissing ? hint : undefined}
          placeholder="feedback (needed to reject)"
          value={feedback}
          onInput={(event) => setFeedback(event.currentTarget.value)}
        />
      </div>
      {isMissing && (
        <p id={hint} class="tone-bad hint" role="status">
          Say why, so that a better plan can follow.
        </p>
      )}
    </>
  );
}

export function QuestionAnswers({ need, acting, keys }: AnswersProps<"question">) {
  const field = useRef<HTMLTextAreaElement>(null);
  keys.yes = () => field.current?.focus();
  return <MessageField to={need.agent} acting={acting} label={`Answer to ${need.agent}`} fieldRef={field} />;
}

interface MessageFieldProps {
  to: string;
  label: string;
  acting: Acting;
  fieldRef?: { current: HTMLTextAreaElement | null };
}

/** A field and Send: what is in it stays until it was sent. */
export function MessageField({ to, label, acting, fieldRef }: MessageFieldProps) {
  const [words, setWords] = useState("");
  const send = async (event: Event) => {
    event.preventDefault();
    if (words.trim() === "") return;
    const answer = await acting.ask({ action: "send", to, text: words });
    if (answer?.ok) setWords("");
  };
  return (
    <form class="message" onSubmit={send}>
      <textarea
        ref={fieldRef}
        rows={2}
        aria-label={label}
        placeholder={label}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <button type="submit" aria-disabled={acting.isAsking}>
        Send
      </button>
    </form>
  );
}
