// The head of a context: what it is, how it stands and why, what it cost, who works in it, how to go on with it.
import type { AgentRow, ContextAt, ContextPage } from "../../context-api.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Ago, Cost, Tokens } from "../components/figures.tsx";
import { Status } from "../components/status.tsx";
import { ago, byteCount, counted } from "../format.ts";
import { Needs } from "../home/needs.tsx";
import { addressOf } from "../router.ts";

interface HeadProps {
  page: ContextPage;
  /** Of the moment that is looked at; undefined: now. */
  then: ContextAt | undefined;
}

export function Head({ page, then }: HeadProps) {
  const { row, readOnly, problems } = page;
  const agents = then?.agents ?? page.agents;
  // That it failed, the head says by itself.
  const asked = page.needs.filter(({ kind }) => kind !== "failure");
  const isStopped = row.status === "interrupted" || row.status === "failed" || row.status === "paused";
  return (
    <header class="context-head">
      <div class="head-title">
        <h1 class="others">{row.title || row.context}</h1>
        <span>
          {then && <span class="quiet-ink">now </span>}
          <Status status={row.status} />
        </span>
        {row.why !== undefined && <span class="others why">{row.why}</span>}
      </div>
      {readOnly !== undefined && (
        <p class="banner" role="note">
          Only to be read: <span class="others">{readOnly}</span>
        </p>
      )}
      {!then && <Needs needs={asked} isAside areShut />}
      <Facts page={page} />
      {isStopped && !then && page.resume !== "" && <GoOn command={page.resume} />}
      {problems.length > 0 && (
        <details class="problems">
          <summary>{counted(problems.length, "problem")} in its ledger</summary>
          <ul>
            {problems.map((problem) => (
              <li key={problem} class="others">
                {problem}
              </li>
            ))}
          </ul>
        </details>
      )}
      {agents.length === 0 ? (
        <p class="quiet-ink head-more">…</p>
      ) : (
        <details class="head-more">
          <summary>
            <AgentsLine agents={agents} />
          </summary>
          <Agents agents={agents} />
          <More page={page} />
        </details>
      )}
    </header>
  );
}

function Facts({ page: { row, head, model, budget } }: { page: ContextPage }) {
  const { tokens, cost, host, backup, dataBytes, ttlMs, forkOf, project } = row;
  return (
    <ul class="facts">
      <li>
        <code>{row.context}</code> <CopyButton text={row.context} what="the context's id" />
      </li>
      {model !== undefined && <li class="others">{model}</li>}
      <li>{counted(head, "event")}</li>
      {tokens && (
        <li>
          <Tokens counts={tokens} both />
        </li>
      )}
      {cost && (
        <li>
          <Cost usd={cost.usd} unpriced={cost.unpriced} />
        </li>
      )}
      {budget.map((line) => (
        <li key={line}>budget: {line}</li>
      ))}
      {dataBytes !== undefined && dataBytes > 0 && <li>{byteCount(dataBytes)} of data</li>}
      <li>
        changed <Ago at={row.updatedAt} says />
      </li>
      {host && (
        <li class="others">
          process {host.pid} {host.here ? "here" : `on ${host.machine}`}
          {host.alive ? "" : ", gone"}
        </li>
      )}
      {ttlMs !== undefined && (
        <li>
          kept <Ago at={row.updatedAt + ttlMs} /> more
        </li>
      )}
      {backup && (
        <li title={backup.place}>
          {backup.lag === 0 ? "backed up" : `${counted(backup.lag, "event")} not backed up`} <Ago at={backup.at} says />
        </li>
      )}
      {forkOf && (
        <li>
          a copy of{" "}
          <a
            href={addressOf({ kind: "context", project, context: forkOf.context, view: "transcript", seq: forkOf.seq })}
          >
            {forkOf.context} at event {forkOf.seq.toLocaleString("en-US")}
          </a>
        </li>
      )}
    </ul>
  );
}

/** Whoever does something first. */
function AgentsLine({ agents }: { agents: readonly AgentRow[] }) {
  const busy = agents.toSorted((a, b) => Number(b.doing !== "idle") - Number(a.doing !== "idle"));
  return (
    <span class="agents-line">
      <b>{counted(agents.length, "agent")}</b>{" "}
      {busy.slice(0, 4).map(({ name, doing }) => (
        <span key={name} class="others">
          <b>{name}</b> {doing}{" "}
        </span>
      ))}
    </span>
  );
}

function Agents({ agents }: { agents: readonly AgentRow[] }) {
  return (
    <ul class="agents">
      {agents.map(({ name, role, doing, rounds, tokens, usd, openCalls }) => (
        <li key={name}>
          <b class="others">{name}</b> <span class="others quiet-ink">{role}</span>
          <span class="others doing">{doing}</span>
          <span class="quiet-ink number">
            {counted(rounds, "round")}, <Tokens counts={tokens} />, <Cost usd={usd} />
          </span>
          {openCalls.map((call) => (
            <code key={call} class="open-call">
              {call}
            </code>
          ))}
        </li>
      ))}
    </ul>
  );
}

function More({ page: { row, task, resume } }: { page: ContextPage }) {
  return (
    <dl class="more">
      {task !== "" && task !== row.title && (
        <>
          <dt>Task</dt>
          <dd class="others">{task}</dd>
        </>
      )}
      <dt>Begun</dt>
      <dd>
        <Ago at={row.createdAt} says />
      </dd>
      <dt>Folder</dt>
      <dd>
        <code>{row.folder}</code>
      </dd>
      {row.ttlMs !== undefined && (
        <>
          <dt>Kept</dt>
          <dd>{ago(row.ttlMs)} after its last change</dd>
        </>
      )}
      <dt>Terminal</dt>
      <dd>
        <GoOn command={resume} />
      </dd>
    </dl>
  );
}

function GoOn({ command }: { command: string }) {
  return (
    <p>
      <span class="quiet-ink">go on with</span> <code>{command}</code> <CopyButton text={command} what="the command" />
    </p>
  );
}
