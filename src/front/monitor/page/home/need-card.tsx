// One thing that waits for a person: who asks, what exactly, and the answers, given in place. Also on the pages of its project and context.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ActionAnswer, HostRow, Need } from "../../api.ts";
import { type Acting, useActing } from "../components/acting.ts";
import { ActionAnswerLine } from "../components/action-answer.tsx";
import { CopyButton } from "../components/copy-button.tsx";
import { Ago } from "../components/figures.tsx";
import { Status } from "../components/status.tsx";
import { keyOfContext, keyOfNeed } from "../overview.ts";
import { addressOf } from "../router.ts";
import { useWatching } from "../watching.tsx";
import type { Over } from "./cards.ts";
import { ApprovalAnswers, PlanAnswers, QuestionAnswers } from "./need-answers.tsx";

/** What the keys of a card do. */
export interface CardKeys {
  yes?: (() => void) | undefined;
  no?: (() => void) | undefined;
}

export interface NeedCardProps {
  need: Need;
  /** It waits no more. */
  over: Over | undefined;
  isFirst?: boolean;
  /** A line until it is opened. */
  isShut?: boolean;
  /** Contract: false while an answer could be meant for another card. */
  mayAnswer(key: string): boolean;
  onAnswer(answer: ActionAnswer): void;
  onDismiss(): void;
  /** Told what its keys do. */
  onKeys(keys: CardKeys): void;
}

export function NeedCard({ need, over, isFirst = false, isShut = false, ...on }: NeedCardProps) {
  const key = keyOfNeed(need);
  const asking = useActing(need);
  const [isOpen, setOpen] = useState(!isShut);
  const acting: Acting = {
    ...asking,
    isAsking: asking.isAsking || over !== undefined,
    async ask(action) {
      if (over || !on.mayAnswer(key)) return undefined;
      const answer = await asking.ask(action);
      if (answer) on.onAnswer(answer);
      return answer;
    },
  };
  const keys = useRef<CardKeys>({});
  // What is not seen is not answered: the first press opens it.
  if (!isOpen) keys.current.yes = keys.current.no = () => setOpen(true);
  on.onKeys(keys.current);
  const titleId = useId();
  const box = useRef<HTMLLIElement>(null);
  const height = useRef(0);
  useLayoutEffect(() => {
    if (!over && box.current) height.current = box.current.offsetHeight;
  });
  return (
    <li
      ref={box}
      class={`need need-${need.kind}${over ? " need-over" : ""}`}
      data-card={key}
      data-need={over ? undefined : key}
      data-open={isOpen ? "" : undefined}
      data-first={isFirst && !over ? "" : undefined}
      // Cards below stay where they are.
      style={over && height.current > 0 ? { height: `${height.current}px` } : {}}
      tabIndex={-1}
      aria-labelledby={titleId}
    >
      <div class="need-head">
        <Status status={need.kind === "failure" ? need.status : need.kind} />
        <h3 class="others" id={titleId}>
          {need.kind === "failure" ? <ContextLink need={need}>{need.title || need.context}</ContextLink> : need.title}
        </h3>
        <span class="quiet-ink need-age">
          <Ago at={need.at} says />
        </span>
        {isShut && !over && (
          <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "close" : "answer"}
          </button>
        )}
        {over && (
          <button type="button" class="small" onClick={on.onDismiss}>
            dismiss
          </button>
        )}
      </div>
      {over ? <p class="who over-says">{over.says}</p> : isOpen && <WhoAsks need={need} />}
      {isOpen && <NeedBody need={need} acting={acting} keys={keys.current} />}
      {!over && asking.answer && !asking.answer.ok && <ActionAnswerLine answer={asking.answer} />}
    </li>
  );
}

function NeedBody({ need, acting, keys }: { need: Need; acting: Acting; keys: CardKeys }) {
  switch (need.kind) {
    case "approval":
      return (
        <>
          <Asked label={`What ${need.agent} asks for`}>{need.lines.join("\n")}</Asked>
          <ApprovalAnswers {...{ need, acting, keys }} />
        </>
      );
    case "plan":
      return (
        <>
          <Asked label={`The plan of ${need.agent}`}>{need.text}</Asked>
          <PlanAnswers {...{ need, acting, keys }} />
        </>
      );
    case "question":
      return (
        <>
          <Asked label={`What ${need.agent} asks`}>{need.text}</Asked>
          <QuestionAnswers {...{ need, acting, keys }} />
        </>
      );
    case "failure":
      return (
        <p class="go-on">
          <span class="quiet-ink">go on with</span>
          <code>{need.command}</code>
          <CopyButton text={need.command} what="the command" />
        </p>
      );
  }
}

/** All of it: what is longer than the card scrolls inside. */
function Asked({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must be reached by keys
    // biome-ignore lint/a11y/useSemanticElements: no fields are in it
    <pre class="asked" role="group" aria-label={label} tabIndex={0}>
      {children}
    </pre>
  );
}

function ContextLink({ need, children }: { need: Need; children: ComponentChildren }) {
  const { project, context } = need;
  return (
    <a class="others" href={addressOf({ kind: "context", project, context, view: "transcript" })}>
      {children}
    </a>
  );
}

/** Agent, context, project, machine; of what stopped, why. */
function WhoAsks({ need }: { need: Need }) {
  const { known } = useWatching();
  const { project, agent, kind } = need;
  const row = known?.contexts.get(keyOfContext(need));
  const name = known?.projects.find(({ id }) => id === project)?.name ?? project;
  return (
    <p class="who">
      {kind === "failure" ? (
        <span class="others">{need.text || "it does not say why"}</span>
      ) : (
        <span>
          <b class="others">{agent}</b> in <ContextLink need={need}>{row?.title || need.context}</ContextLink>
        </span>
      )}
      <a class="others" href={addressOf({ kind: "project", project })}>
        {name}
      </a>
      {row?.host && <HostName host={row.host} />}
    </p>
  );
}

function HostName({ host: { pid, here, machine, alive } }: { host: HostRow }) {
  return (
    <span class="others">
      process {pid} {here ? "here" : `on ${machine}`}
      {alive ? "" : ", gone"}
    </span>
  );
}
