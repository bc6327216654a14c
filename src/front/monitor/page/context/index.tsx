// One context. Its views are built here.
import type { ContextKey } from "../../api.ts";
import type { ContextViewName } from "../router.ts";

export interface ContextViewProps extends ContextKey {
  view: ContextViewName;
  seq: number | undefined;
}

export function ContextView({ context }: ContextViewProps) {
  return <h1>{context}</h1>;
}
