// What helps after an error, as a code: whoever shows the error words it for its reader. Here for programs; `loop/` for models, the command line for people.
import { isRecord } from "./guards.ts";

export type NextStep =
  | "list contexts"
  | "list checkpoints"
  | "list data"
  | "list tasks"
  | "make or free worktree"
  | "raise quota";

/** `id`: of the context that the error is about, where there is one. */
export type Wording = Record<NextStep, string | ((about: { id?: string }) => string)>;

export function worded(next: NextStep, wording: Wording, detail: unknown): string {
  const said = wording[next];
  return typeof said === "string"
    ? said
    : said(isRecord(detail) && typeof detail.id === "string" ? { id: detail.id } : {});
}

export const FOR_PROGRAMS: Wording = {
  "list contexts": "list() says which there are",
  "list checkpoints": "checkpoints() says where one can go",
  "list data": "list() says what there is",
  "list tasks": "list() says which there are",
  "make or free worktree": "make it, or free the task of it",
  "raise quota": "remove data or raise the quota with configure()",
};
