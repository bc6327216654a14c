// One case of the gate and the tools together, and what many of them are made of.
import type { PermissionMode } from "../../src/claude-code/permission-modes.ts";
import type { GatedCall } from "./gated.ts";

/** `no`: refused, and without effect; `safe`: whatever is said, without effect; `yes`: it works. */
export type Outcome = "no" | "safe" | "yes";

export interface GatedCase extends Omit<GatedCall, "mode"> {
  kind: string;
  expect: Outcome;
  why: string;
  modes: PermissionMode[];
  setup: string[];
  /** Files of the project that must stay as they are. */
  keeps: string[];
  /** What the output must and must not say. */
  says: string[];
  lacks: string[];
}

export interface More extends Partial<Omit<GatedCall, "tool" | "path" | "mode">> {
  setup?: string[];
  modes?: PermissionMode[];
  keeps?: string[];
  says?: string[];
  lacks?: string[];
}
export type Line = [tools: string, path: string, expect: Outcome, why: string, more?: More];

export const link = (target: string, name: string): More => ({ setup: [`ln -s '${target}' '@WS@/${name}'`] });
export const file = (name: string, text = "inside"): More => ({
  setup: [`mkdir -p "$(dirname '@WS@/${name}')"`, `printf '${text}' > '@WS@/${name}'`],
});
export const all: PermissionMode[] = ["default", "acceptEdits", "bypass"];
export const secret = (name: string): More => ({ ...file(name, "CANARY-SECRET"), modes: all });

export const gitAt = (dir: string) => [
  `mkdir -p '@WS@/${dir}/objects' '@WS@/${dir}/refs' '@WS@/${dir}/hooks'`,
  `printf 'ref: refs/heads/main' > '@WS@/${dir}/HEAD'`,
  `printf '[core]' > '@WS@/${dir}/config'`,
];
