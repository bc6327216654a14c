// What a repository may say: it can tighten; what it can execute or allow is bound to the content that the user approved.

import { createHash } from "node:crypto";
import type { PermissionMode } from "../claude-code/permission-modes.ts";
import { isRecord } from "../ledger/guards.ts";
import type { CheckedFile } from "./check.ts";
import type { SettingsPlace } from "./files.ts";
import { quoted } from "./quoted.ts";
import { approvedBy, type TrustEntry } from "./trust.ts";
import type { SettingsFile } from "./types.ts";

/** One piece of executable configuration. Contract: what was hashed is what is used; nothing is read twice. */
export interface ExecutablePiece {
  /** The name under which trust keeps its hash. */
  kind: string;
  file: string;
  what: string;
  hash: string;
  /** For people who decide: each command or rule, whole. */
  shows: string[];
  approved: boolean;
}

export interface WithheldPiece {
  file: string;
  what: string;
  why: string;
}

/** Modes that ask no less than `default` does. */
const TIGHT_MODES: readonly PermissionMode[] = ["default", "plan", "dontAsk"];

/** A repository's mode counts when it is stricter than the one below; of `plan` and `dontAsk` neither is stricter than the other. */
export const tightens = (from: PermissionMode, to: PermissionMode): boolean =>
  TIGHT_MODES.includes(to) && (from === to || (from !== "plan" && from !== "dontAsk"));

export const isEscalating = (mode: string): boolean => !TIGHT_MODES.some((one) => one === mode);

/** Leaves out what a repository must not say, with a warning for each. */
export function withoutLoosening(checked: CheckedFile, userFile: string): { value: SettingsFile; warnings: string[] } {
  const value = structuredClone(checked.value);
  const warnings: string[] = [];
  const refuse = (path: string[], because = "a repository cannot set it") => {
    const todo = `put it into ${userFile} if you want it`;
    warnings.push(`${checked.at(path)}: ${quoted(path.join("."))} is not used: ${because}; ${todo}`);
    let holder: Record<string, unknown> = value as Record<string, unknown>;
    for (const step of path.slice(0, -1)) holder = holder[step] as Record<string, unknown>;
    delete holder[path.at(-1)!];
  };
  for (const key of ["providers", "proxy", "models", "env", "contexts", "backup", "mcpServers", "memory"] as const)
    if (value[key] !== undefined) refuse([key]);
  const { sandbox, permissions } = value;
  if (sandbox?.enabled === false) refuse(["sandbox", "enabled"], "a repository cannot switch the sandbox off");
  if (sandbox?.network === "on") refuse(["sandbox", "network"], "a repository cannot open the network");
  if (sandbox?.readable) refuse(["sandbox", "readable"]);
  if (sandbox?.writable) refuse(["sandbox", "writable"]);
  if (permissions?.additionalDirectories) refuse(["permissions", "additionalDirectories"]);
  const mode = permissions?.defaultMode;
  if (mode && isEscalating(mode))
    refuse(["permissions", "defaultMode"], `a repository cannot loosen the mode to ${mode}`);
  const plays = (model: string) => model.startsWith("rehearsal"); // a script of tool calls in place of a model
  if (value.model && plays(value.model)) refuse(["model"], "a repository cannot bring its own model");
  if (value.fallbackModels?.some(plays)) refuse(["fallbackModels"], "a repository cannot bring its own model");
  return { value, warnings };
}

/** The executable pieces of one settings file. */
export function executablePieces(value: SettingsFile, place: SettingsPlace): TrustedPiece[] {
  const pieces: TrustedPiece[] = [];
  const { hooks } = value;
  const allow = value.permissions?.allow ?? [];
  if (hooks && Object.values(hooks).some((groups) => groups.length > 0)) {
    const shows = Object.entries(hooks).flatMap(([event, groups]) =>
      groups.flatMap(({ matcher, hooks: all }) =>
        all.map((hook) => [event, matcher, "→", hook.command, ...(hook.args ?? [])].filter(Boolean).join(" ")),
      ),
    );
    pieces.push(pieceOf({ name: "hooks", what: "hooks", file: place.shown, content: canonical(hooks), shows }));
  }
  if (allow.length > 0)
    pieces.push(
      pieceOf({ name: "allow", what: "allow rules", file: place.shown, content: canonical(allow), shows: allow }),
    );
  return pieces;
}

/** What trusting them means besides. */
const MCP_NOTICE = "its processes start with the network, inside the sandbox where that works";

export const mcpPiece = (shown: string, text: string): TrustedPiece =>
  pieceOf({ name: "mcp", what: "MCP servers", file: shown, content: text, shows: [MCP_NOTICE, text] });

/** A piece, whether it is approved or not. */
export type TrustedPiece = Omit<ExecutablePiece, "approved">;

export function pieceOf(of: {
  name: string;
  what: string;
  file: string;
  content: string;
  shows: string[];
}): TrustedPiece {
  const { name, what, file, content, shows } = of;
  const kind = `${name} ${file}`;
  const hash = createHash("sha256").update(`${kind}\n${content}`).digest("hex");
  return { kind, file, what, hash, shows };
}

export const judged = (piece: TrustedPiece, entry: TrustEntry | undefined): ExecutablePiece => ({
  ...piece,
  approved: approvedBy(entry, piece.kind, piece.hash),
});

/** The file without the pieces that are not approved, and what those are. */
export function withoutUnapproved(
  value: SettingsFile,
  pieces: readonly ExecutablePiece[],
  entry: TrustEntry | undefined,
) {
  const kept = structuredClone(value);
  for (const piece of pieces.filter((p) => !p.approved)) {
    if (piece.kind.startsWith("hooks ")) delete kept.hooks;
    if (piece.kind.startsWith("allow ")) delete kept.permissions?.allow;
  }
  return { value: kept, withheld: withheldPieces(pieces, entry) };
}

export const withheldPieces = (pieces: readonly ExecutablePiece[], entry: TrustEntry | undefined): WithheldPiece[] =>
  pieces
    .filter((piece) => !piece.approved)
    .map(({ file, what, kind }) => ({
      file,
      what,
      why:
        entry && Object.hasOwn(entry.executables, kind) ? "changed since it was trusted" : "new since trust was given",
    }));

/** The same content gives the same text, however it is laid out. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
