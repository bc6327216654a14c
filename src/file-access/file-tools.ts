// The tools that are given a path, and what each does there. The policy, the rules and the built-in agents go by this table alone.
import { own } from "../ledger/own.ts";

/** `search`: a folder, the current one where none is given. */
type Access = "read" | "search" | "write";

const FILE_TOOLS: Record<string, Access> = {
  read_file: "read",
  glob: "search",
  grep: "search",
  write_file: "write",
  edit_file: "write",
  multi_edit: "write",
};

export const isFileTool = (tool: string): boolean => own(FILE_TOOLS, tool) !== undefined;
export const isWriter = (tool: string): boolean => own(FILE_TOOLS, tool) === "write";
export const isReader = (tool: string): boolean => isFileTool(tool) && !isWriter(tool);
export const isSearch = (tool: string): boolean => own(FILE_TOOLS, tool) === "search";

export const fileTools = (is: (tool: string) => boolean): string[] => Object.keys(FILE_TOOLS).filter(is);
