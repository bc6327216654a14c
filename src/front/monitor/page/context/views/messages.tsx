// Who wrote to whom, and a field to write to an agent.
import { useMemo, useRef, useState } from "preact/hooks";
import type { EventRow, RowsWindow } from "../../../context-api.ts";
import { contextPath } from "../../client.ts";
import { useActing } from "../../components/acting.ts";
import { ActionAnswerLine } from "../../components/action-answer.tsx";
import { Problem } from "../../components/problem.tsx";
import { counted } from "../../format.ts";
import { useParts } from "../../parts.tsx";
import { VirtualList } from "../../virtual-list.tsx";
import { EventPanel } from "../event-panel.tsx";
import type { TabProps } from "../tab.ts";
import { AsOf, AtTime, Hint, ListAndDetail } from "./pieces.tsx";
import { useFresh } from "./use-fresh.ts";

const ROW_HEIGHT = 44;

export function MessagesTab({ project, context, seq, page, live, goTo }: TabProps) {
  const { client } = useParts();
  const [chosen, setChosen] = useState<{ position: number; seq: number | undefined } | undefined>(undefined);
  const upTo = seq === undefined ? "" : `&upTo=${seq}`;
  const path = `${contextPath({ project, context })}/rows?kinds=message,plan${upTo}`;
  const change = Math.max(live.last.message ?? 0, live.last.plan ?? 0);
  const { value, problem, again } = useFresh<RowsWindow>(`${path}&from=0&count=1`, change);
  const fetchWindow = useMemo(
    () => async (from: number, count: number, signal: AbortSignal) =>
      (await client.get<RowsWindow>(`${path}&from=${from}&count=${count}`, signal)).rows,
    [client, path],
  );
  const choose = (position: number, row: EventRow | undefined) => setChosen({ position, seq: row?.seq });
  const list = (
    <VirtualList
      label="Messages and plans"
      total={value?.total ?? 0}
      rowHeight={ROW_HEIGHT}
      fetchWindow={fetchWindow}
      version={path}
      keyOf={(row) => String(row.seq)}
      renderRow={(row) => <MessageRow row={row} />}
      classOf={({ left }) => (left ? "left" : "")}
      selected={chosen?.position}
      onSelect={choose}
      onOpen={(_, row) => row && goTo(row.seq)}
      followsEnd
      isMain
    >
      <Hint>{value ? "No agent wrote to another." : "…"}</Hint>
    </VirtualList>
  );
  return (
    <div class="view">
      <div class="view-bar">
        <h2>Messages and plans</h2>
        <span class="quiet-ink">{value && counted(value.total, "event")}</span>
        <AsOf seq={seq} what="Those" />
        {problem !== undefined && <Problem says={problem} again={again} />}
      </div>
      <ListAndDetail
        label="Message"
        list={list}
        detail={
          chosen?.seq === undefined ? (
            <Hint>Choose a message to read it.</Hint>
          ) : (
            <EventPanel
              {...{ project, context, goTo, seq: chosen.seq, moment: seq }}
              onClose={() => setChosen(undefined)}
            />
          )
        }
      />
      <SendTo project={project} context={context} page={page} />
    </div>
  );
}

function MessageRow({ row: { at, agent, title, kind, left } }: { row: EventRow }) {
  return (
    <div class="two-lines">
      <div class="quiet-ink tiny">
        <AtTime at={at} /> <b class="others">{agent}</b> {kind === "plan" && "plan"} {left && "· left by a restore"}
      </div>
      <div class="others cut">{title}</div>
    </div>
  );
}

function SendTo({ project, context, page }: Pick<TabProps, "project" | "context" | "page">) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { ask, answer, isAsking } = useActing({ project, context });
  const [to, setTo] = useState("");
  const mates = page.agents.filter(({ role }) => role !== "subagent");
  if (page.readOnly !== undefined || mates.length < 2) return null;
  const chosen = mates.some(({ name }) => name === to) ? to : mates.at(-1)!.name;
  const send = async (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? "";
    if (text === "") return;
    const said = await ask({ action: "send", to: chosen, text });
    if (said?.ok && field.current) field.current.value = "";
  };
  return (
    <form class="send-form" onSubmit={send}>
      <label>
        To{" "}
        <select value={chosen} onChange={(event) => setTo(event.currentTarget.value)}>
          {mates.map(({ name, role }) => (
            <option key={name} value={name}>
              {name === role ? name : `${name} (${role})`}
            </option>
          ))}
        </select>
      </label>
      <textarea ref={field} rows={1} aria-label={`Message to ${chosen}`} placeholder="A message" maxLength={20_000} />
      <button type="submit" class="main" aria-disabled={isAsking}>
        Send
      </button>
      {answer && <ActionAnswerLine answer={answer} />}
    </form>
  );
}
