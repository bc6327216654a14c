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

/** From the narrowest: how much happens unasked. */
const WIDTHS: Record<PermissionMode, number> = {
  plan: 0,
  dontAsk: 1,
  default: 2,
  acceptEdits: 3,
  auto: 4,
  bypassPermissions: 5,
  bypass: 5,
};

export const isNarrower = (mode: PermissionMode, than: PermissionMode): boolean => WIDTHS[mode] < WIDTHS[than];

/** As existing scripts know it. */
export const claudeMode = (mode: string): string => (mode === "bypass" ? "bypassPermissions" : mode);
