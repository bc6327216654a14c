// Changes of files that tools recorded and that went well: which file, by whom, between which events.
import { isRecord, knownFact } from "../../ledger/guards.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { FilesChanged } from "../monitor/context-api.ts";
import { oneLine, printable } from "../presentation/printable.ts";

type FileEdit = FilesChanged["edits"][number];

const MOST_EDITS = 500;
const EDITS = new Set(["write_file", "edit_file", "multi_edit"]);

export interface EditGatherer {
  observe(event: StoredEvent): void;
  /** Begun behind `after`, done up to `upTo`; at most the last ones. */
  between(range: { after: Seq; upTo?: Seq | undefined }): FileEdit[];
}

export function gatherEdits(): EditGatherer {
  const begun = new Map<string, FileEdit>();
  const done: { edit: FileEdit; at: Seq }[] = [];
  return {
    observe(event) {
      const { type, data, actor: agent, seq } = knownFact<typeof loopEvents>(event);
      if (type === "tool.started") {
        const path = editedPath(data.name, data.input);
        const edit = path === undefined ? undefined : { seq, path, agent: oneLine(agent, 60), tool: data.name };
        if (edit) begun.set(`${agent} ${data.callId}`, edit);
      } else if (type === "tool.finished") {
        const edit = begun.get(`${agent} ${data.callId}`);
        begun.delete(`${agent} ${data.callId}`);
        if (edit && !data.isError) done.push({ edit, at: seq });
      }
    },
    between: ({ after, upTo = Number.POSITIVE_INFINITY }) =>
      done
        .filter(({ edit, at }) => edit.seq > after && at <= upTo)
        .slice(-MOST_EDITS)
        .map(({ edit }) => edit),
  };
}

/** The file that a call of a tool changes, if it does. */
function editedPath(tool: string, input: unknown): string | undefined {
  if (!EDITS.has(tool) || !isRecord(input) || typeof input.path !== "string") return undefined;
  return printable(input.path);
}
