// The kinds of rows: a sign and a word for each.
import type { RowKind } from "../../context-api.ts";

export const KINDS: Readonly<Record<RowKind, { sign: string; word: string }>> = {
  prompt: { sign: ">", word: "prompt" },
  reply: { sign: "¶", word: "reply" },
  call: { sign: "→", word: "call" },
  result: { sign: "←", word: "result" },
  note: { sign: "#", word: "note" },
  message: { sign: "@", word: "message" },
  approval: { sign: "!", word: "approval" },
  plan: { sign: "≡", word: "plan" },
  data: { sign: "=", word: "data" },
  checkpoint: { sign: "◆", word: "checkpoint" },
  job: { sign: "$", word: "job" },
  agent: { sign: "+", word: "agent" },
  turn: { sign: "|", word: "turn" },
  trouble: { sign: "×", word: "trouble" },
  other: { sign: "·", word: "other" },
};

export const ALL_KINDS = Object.keys(KINDS) as RowKind[];
