// What helps after an error in the words of a model: the tools it has.
import { messageOf } from "../ledger/error.ts";
import { FOR_PROGRAMS, type Wording } from "../ledger/next-step.ts";

const FOR_MODELS: Wording = {
  ...FOR_PROGRAMS,
  "list data": "context_list says what there is",
  "list tasks": "list_tasks says which there are",
  "make or free worktree": "make it with create_worktree, or free the task of it",
  "raise quota": "share less, or remove data",
};

/** What a failed call says to the model that made it. */
export const resultOfError = (error: unknown): { content: string; isError: true } => ({
  content: messageOf(error, FOR_MODELS),
  isError: true,
});
