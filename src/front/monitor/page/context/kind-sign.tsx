// The sign of a row's kind, with its word for who cannot see it; its colour is by class.
import type { RowKind } from "../../context-api.ts";
import { KINDS } from "./kinds.ts";

export function KindSign({ kind }: { kind: RowKind }) {
  const { sign, word } = KINDS[kind];
  return (
    <span class={`kind kind-${kind}`} title={word}>
      <span aria-hidden="true">{sign}</span>
      <span class="unseen">{word}</span>
    </span>
  );
}
