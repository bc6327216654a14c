// What a person ran beside the conversation is told with their next words, whichever process takes those in.

import { LEAD } from "../../loop/agent.ts";
import { nothing } from "../../loop/carry.ts";
import { noteText } from "../../loop/marks.ts";
import { defineMechanism, type Mechanism, saying } from "../../loop/seams.ts";
import { type PersonCommandsState, personCommandEvents, personCommands, ranText, waitingCommands } from "./events.ts";

const FROM = "a command that the user ran";

export function createPersonCommands(): Mechanism {
  return defineMechanism({
    name: "person-commands",
    carry: nothing,
    events: personCommandEvents,
    fold: personCommands,
    seams: {
      /** Behind what is asked, in the same message. */
      async input(input, turn) {
        if (turn.agent !== LEAD || input.origin !== "user") return input;
        const waiting = waitingCommands(turn.slice<PersonCommandsState>("person-commands"));
        const last = waiting.at(-1);
        if (!last) return input;
        const notes = waiting.map((one) => noteText(FROM, ranText(one))).join("\n\n");
        return saying(input, `\n${notes}`, { type: "command.told", data: { upTo: last.seq } });
      },
    },
  });
}
