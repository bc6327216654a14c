// What the command line makes of settings: the policy, the sandbox, the hooks, the model's environment; and what is said about them.
import { dirname, isAbsolute, join } from "node:path";
import { openHome, type Project, stateHome } from "../contexts/project.ts";
import { messageOf } from "../ledger/error.ts";
import type { StorePlace } from "../ledger/open-store.ts";
import { own } from "../ledger/own.ts";
import type { SandboxOptions } from "../mechanisms/jobs/sandbox.ts";
import { probeSandbox, type SandboxState } from "../mechanisms/jobs/sandbox-state.ts";
import type { PermissionOptions } from "../mechanisms/permissions/index.ts";
import { settingsPlaces } from "../settings/files.ts";
import { describeWithheld, type LoadedSettings, loadSettings } from "../settings/load.ts";
import { openTrust, type Trust } from "../settings/trust.ts";
import { parseRule } from "../shell-policy/rules.ts";
import type { PlaceFlags, PolicyFlags } from "./flags.ts";
import { withheldFiles } from "./withheld-files.ts";

export interface OpenSettings extends LoadedSettings {
  trust: Trust;
  sandboxState: SandboxState;
  /** Undefined: commands run without one. */
  sandbox: (SandboxOptions & { bwrap: string }) | undefined;
  permissions: PermissionOptions;
  /** One line each, for people. */
  says: string[];
  /** Where keys and endpoints come from: the environment and the user's settings. */
  modelEnv: NodeJS.ProcessEnv;
}

/** `showsPieces`: all that can run is wanted, not only what was read for other reasons. */
export async function openSettings(
  flags: PolicyFlags,
  project: Project,
  { showsPieces = false }: { showsPieces?: boolean } = {},
): Promise<OpenSettings> {
  const places = settingsPlaces();
  const { home, configHome } = places;
  const trust = trustOf(flags, project);
  const loaded = await loadSettings({
    root: project.root,
    ...places,
    trust,
    trustFlag: flags.trust,
    ...((flags.trust || showsPieces) && {
      morePieces: async (plugins) => (await import("./project-pieces.ts")).projectPieces(project.root, plugins),
    }),
    commandLine: {
      permissions: {
        allow: flags.allow ?? [],
        deny: flags.deny ?? [],
        ask: flags.ask ?? [],
        additionalDirectories: flags.addDirs ?? [],
        ...(flags.permissionMode ? { defaultMode: flags.permissionMode } : {}),
      },
    },
    ...(flags.settings !== undefined && { given: flags.settings }),
    checkRule,
  });
  const { settings } = loaded;
  const wanted = settings.sandbox.enabled !== false;
  const sandboxState: SandboxState = wanted
    ? probeSandbox(stateRoot(flags, project), project.root)
    : { works: false, why: 'switched off by "sandbox": { "enabled": false } in your settings or in --settings' };
  const { additionalDirectories, defaultMode = "default", bypassOff: _, ...rules } = settings.permissions;
  const sandbox = sandboxState.works
    ? {
        bwrap: sandboxState.bwrap,
        ...sandboxOf(settings, project, { home, configHome, root: stateRoot(flags, project) }),
      }
    : undefined;
  const says = [...loaded.warnings, ...describeWithheld(loaded, withheldFiles(project.root))];
  if (!sandboxState.works) says.push(`no sandbox: ${sandboxState.why}; only what reads is allowed unasked`);
  return {
    ...loaded,
    trust,
    sandboxState,
    sandbox,
    permissions: {
      policy: { mode: defaultMode, ...rules },
      home,
      additionalDirectories,
      own: [stateRoot(flags, project), stateHome(), join(configHome, "holdfast")],
      sandboxed: sandbox !== undefined,
      openNetwork: sandbox?.network === true,
    },
    says,
    modelEnv: modelEnv(loaded),
  };
}

/** `root`: where state is kept. */
function sandboxOf(
  { sandbox, permissions }: LoadedSettings["settings"],
  project: Project,
  { home, configHome, root }: { home: string; configHome: string; root: string },
): SandboxOptions {
  const { XDG_DATA_HOME = "" } = process.env;
  return {
    root: project.root,
    home,
    dir: join(project.stateDir, "private"),
    state: project.stateDir,
    hidden: [root, stateHome(), ...filesOf(project.ledgers)],
    xdg: { config: configHome, ...(isAbsolute(XDG_DATA_HOME) && { data: XDG_DATA_HOME }) },
    readable: sandbox.readable,
    writable: [...sandbox.writable, ...permissions.additionalDirectories],
    network: sandbox.network === "on",
  };
}

const filesOf = (ledgers: StorePlace): string[] =>
  "file" in ledgers ? ["", "-wal", "-shm"].map((end) => ledgers.file + end) : [];

/** The settings of the project alone, for what they say about trust. */
export const trustNow = (flags: PolicyFlags, project: Pick<Project, "root" | "stateDir">): Promise<LoadedSettings> =>
  loadSettings({ root: project.root, ...settingsPlaces(), trust: trustOf(flags, project), trustFlag: flags.trust });

export const trustOf = (flags: PlaceFlags, project: Pick<Project, "stateDir">): Trust =>
  openTrust(join(stateRoot(flags, project), "trust.json"));

/** Beside the projects: what holds for all of them. */
export const stateRoot = (flags: PlaceFlags, project: Pick<Project, "stateDir">): string =>
  openHome(flags).file === undefined ? dirname(dirname(project.stateDir)) : project.stateDir;

function checkRule(text: string): string | undefined {
  try {
    parseRule(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const PREFIX: Record<string, string> = {
  anthropic: "ANTHROPIC",
  openai: "OPENAI",
  "openai-compatible": "OPENAI",
  "openai-responses": "OPENAI",
};

/** The environment wins: it is closer to this run. */
function modelEnv({ settings }: LoadedSettings): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, { baseUrl, apiKeyEnv }] of Object.entries(settings.providers)) {
    const prefix = own(PREFIX, name);
    if (!prefix) continue;
    if (baseUrl) env[`${prefix}_BASE_URL`] = baseUrl;
    if (apiKeyEnv && process.env[apiKeyEnv]) env[`${prefix}_API_KEY`] = process.env[apiKeyEnv];
  }
  const known = { ...env, ...process.env };
  const isGiven = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].some((name) => known[name]);
  return settings.proxy && !isGiven ? { ...known, HTTPS_PROXY: settings.proxy } : known;
}
