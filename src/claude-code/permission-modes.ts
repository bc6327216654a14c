// The names of the permission modes: settings, agent definitions and the engine mean the same ones.

export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "auto",
  "dontAsk",
  "bypassPermissions",
  "bypass",
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export const isPermissionMode = (mode: string | undefined): mode is PermissionMode =>
  PERMISSION_MODES.some((one) => one === mode);

/** As existing scripts know it. */
export const claudeMode = (mode: string): string => (mode === "bypass" ? "bypassPermissions" : mode);
