// Who works in the project's teams, and on what; a message to anyone of them.
import { useState } from "preact/hooks";
import type { TeamRow } from "../../api.ts";
import { useActing } from "../components/acting.ts";
import { ActionAnswerLine } from "../components/action-answer.tsx";
import { MessageField } from "../home/need-answers.tsx";
import { addressOf } from "../router.ts";
import { useWatching } from "../watching.tsx";

export function TeamTables({ project, team }: { project: string; team: readonly TeamRow[] }) {
  const contexts = [...new Set(team.map(({ context }) => context))];
  return (
    <>
      {contexts.map((context) => (
        <OneTeam
          key={context}
          project={project}
          mates={team.filter((mate) => mate.context === context)}
          context={context}
        />
      ))}
    </>
  );
}

interface OneTeamProps {
  project: string;
  context: string;
  mates: readonly TeamRow[];
}

function OneTeam({ project, context, mates }: OneTeamProps) {
  const { known } = useWatching();
  const title = known?.contexts.get(`${project}/${context}`)?.title ?? context;
  return (
    <div class="team">
      <h3 class="others">
        <a href={addressOf({ kind: "context", project, context, view: "transcript" })}>{title}</a>
      </h3>
      <div class="table-box">
        <table>
          <thead>
            <tr>
              <th scope="col">Who</th>
              <th scope="col">Role</th>
              <th scope="col">Doing</th>
              <th scope="col">Task</th>
              <th scope="col" class="number">
                Inbox
              </th>
            </tr>
          </thead>
          <tbody>
            {mates.map(({ name, role, doing, task, inbox }) => (
              <tr key={name}>
                <th scope="row" class="others">
                  {name}
                </th>
                <td class="others">{role}</td>
                <td class="others">{doing}</td>
                <td>{task ?? ""}</td>
                <td class="number">{inbox}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <SendTo project={project} context={context} names={["lead", ...mates.map(({ name }) => name)]} />
    </div>
  );
}

function SendTo({ project, context, names }: { project: string; context: string; names: readonly string[] }) {
  const [to, setTo] = useState(names[1] ?? "lead");
  const acting = useActing({ project, context });
  return (
    <details class="send">
      <summary>Send a message</summary>
      <label>
        To{" "}
        <select value={to} onChange={(event) => setTo(event.currentTarget.value)}>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          {names.length > 2 && <option value="*">everyone</option>}
        </select>
      </label>
      <MessageField to={to} label={`Message to ${to === "*" ? "everyone" : to}`} acting={acting} />
      {acting.answer && <ActionAnswerLine answer={acting.answer} />}
    </details>
  );
}
