// Errors in the words of a person at a shell: what is wrong, and what to type.
import { messageOf } from "../ledger/error.ts";
import type { Wording } from "../ledger/next-step.ts";

const FOR_PEOPLE: Wording = {
  "list contexts": "see `holdfast contexts ls`",
  "list checkpoints": ({ id }) => `see \`holdfast contexts checkpoints${id ? ` ${id}` : ""}\``,
  "list data": ({ id }) => `see \`holdfast contexts data${id ? ` ${id}` : ""}\``,
  "list tasks": "see `holdfast tasks ls`",
  "make or free worktree": "take it off its task with `holdfast tasks update` and worktree= (empty)",
  "raise quota": "remove data, or let whoever made the context raise its quota",
};

export const errorText = (error: unknown): string => messageOf(error, FOR_PEOPLE);
