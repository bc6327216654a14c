// The project's board as it was at a time: its ledger folded up to then.
import { createFold } from "../../ledger/fold.ts";
import type { Seq, Store } from "../../ledger/store.ts";
import { BOARD_LEDGER, boardCodec } from "../../mechanisms/tasks/events.ts";
import { boardIn, boardSlice } from "../../mechanisms/tasks/fold.ts";
import { inOrder } from "../../mechanisms/tasks/graph.ts";
import type { Task } from "../../mechanisms/tasks/port.ts";
import type { BoardTask } from "../monitor/api.ts";
import { oneLine } from "../presentation/printable.ts";
import { createFoldHistory } from "./fold-history.ts";
import { readShortened } from "./read-shortened.ts";

const MOST_TASKS = 1_000;

export interface BoardPast {
  /** Contract: with everything that was recorded up to then. */
  at(time: number): Promise<BoardTask[]>;
}

export function createBoardPast(store: Pick<Store, "read">): BoardPast {
  const codec = boardCodec();
  const history = createFoldHistory(createFold({ board: boardSlice }));
  /** By seq − 1; never going back, whatever the clocks of several machines say. */
  const times: number[] = [];
  let reading: Promise<void> | undefined;
  const read = (after: Seq, upTo?: Seq) =>
    readShortened(store, codec, { ledger: BOARD_LEDGER, after, ...(upTo !== undefined && { upTo }) });

  async function readOn(): Promise<void> {
    for await (const event of read(times.length)) {
      while (times.length < event.seq) times.push(Math.max(times.at(-1) ?? 0, event.at));
      history.observe(event);
    }
  }

  return {
    async at(time) {
      reading ??= readOn().finally(() => {
        reading = undefined;
      });
      await reading;
      const later = times.findIndex((one) => one > time);
      const { tasks } = boardIn(await history.stateAt(later < 0 ? times.length : later, read));
      return inOrder(tasks, tasks.values()).slice(0, MOST_TASKS).map(boardTask);
    },
  };
}

export function boardTask({ id, subject, status, owner, blockedBy, priority, updatedAt, history }: Task): BoardTask {
  return {
    ...{ id, subject: oneLine(subject, 300), status, blockedBy: [...blockedBy], priority, updatedAt },
    ...(owner && { owner: oneLine(owner, 100) }),
    notes: history.slice(-5).map(({ by, what, note }) => oneLine(`${by}: ${what}${note ? ` (${note})` : ""}`, 300)),
  };
}
