// Loading settings: which files are read, in which order, what trust lets through, what is said about the rest.

import { resolve } from "node:path";
import { HoldfastError } from "../ledger/error.ts";
import type { CheckedFile, CheckRule } from "./check.ts";
import {
  fileExists,
  MCP_FILE,
  readSettingsText,
  realSettingsPath,
  type SettingsPlace,
  type SettingsPlaces,
  settingsFiles,
  userFile,
} from "./files.ts";
import { type Layer, mergeSettings, pluginsOf } from "./merge.ts";
import {
  type ExecutablePiece,
  executablePieces,
  isEscalating,
  judged,
  mcpPiece,
  type TrustedPiece,
  type WithheldPiece,
  withheldPieces,
  withoutLoosening,
  withoutUnapproved,
} from "./repository.ts";
import type { Trust, TrustEntry } from "./trust.ts";
import type { Settings, SettingsFile, SettingsScope } from "./types.ts";

export interface LoadOptions extends SettingsPlaces {
  root: string;
  trust: Trust;
  /** `--trust`: trusts this path and what its executable configuration is now. */
  trustFlag?: boolean;
  commandLine?: SettingsFile;
  /** A file, or JSON itself, that was named on the command line: below what the command line says, above every other file. */
  given?: string;
  checkRule?: CheckRule;
  /** What else of the project can run, beyond its settings; `plugins`: the folders that those name. Asked for where pieces are shown or trusted. */
  morePieces?: (plugins: readonly string[]) => Promise<TrustedPiece[]>;
}

export interface LoadedSettings {
  settings: Settings;
  trusted: boolean;
  /** What is not used: it was never trusted, or changed since it was. */
  withheld: WithheldPiece[];
  /** One line each: what a file says and may not, with its place. */
  warnings: string[];
  /** Every file that is looked for, also those that are not there. */
  files: { file: string; scope: SettingsScope; state: "used" | "absent" | "not trusted" }[];
  /** The project's executable configuration; give `{ [kind]: hash }` to `trust.grant` to approve a piece. */
  executables: ExecutablePiece[];
  /** The deny and ask rules of settings that were named on the command line. */
  givenRules: { deny: string[]; ask: string[] };
  /** The project's `.mcp.json`, as it was approved. */
  mcp?: { file: string; text: string };
}

/** Contract: before trust nothing of the repository is opened. A mistake in a file that counts is a HoldfastError, with all of them in `detail.problems`. */
export async function loadSettings(opts: LoadOptions): Promise<LoadedSettings> {
  const root = realSettingsPath(opts.root);
  let entry = opts.trust.entry(root);
  const trusted = entry !== undefined || opts.trustFlag === true;
  const places = settingsFiles(root, opts);
  const { texts, files, mcpText, withheld } = readAll(root, places, trusted);
  const given = opts.given === undefined ? undefined : givenSettings(opts.given, root);
  if (given) texts.splice(texts.filter(({ place }) => place.scope === "managed").length, 0, given);
  const read = await checkAll(texts, opts.commandLine, opts.checkRule ?? (() => undefined));
  const warnings = read.flatMap(({ checked }) => checked.warnings);

  const mcp = mcpText === undefined ? undefined : { file: `${root}/${MCP_FILE}`, text: mcpText };
  const pieces = [
    ...read.flatMap(({ place, checked }) => (place.repository ? executablePieces(checked.value, place) : [])),
    ...(mcp ? [mcpPiece(MCP_FILE, mcp.text)] : []),
    ...(trusted ? ((await opts.morePieces?.(pluginsIn(read, opts.home))) ?? []) : []),
  ];
  const findPieces = () => pieces.map((piece) => judged(piece, entry));
  let executables = findPieces();
  if (opts.trustFlag && needsGrant(entry, executables)) {
    await opts.trust.grant(root, Object.fromEntries(executables.map((piece) => [piece.kind, piece.hash])));
    entry = opts.trust.entry(root);
    executables = findPieces();
  }
  const layers: Layer[] = [];
  for (const one of read) {
    const usable = usableOf(one, { executables, entry, ownFile: userFile(opts) });
    warnings.push(...usable.warnings);
    withheld.push(...usable.withheld);
    const { scope, shown: source, base, repository } = one.place;
    layers.push({ scope, source, base, repository, value: usable.value, at: one.checked.at });
  }
  withheld.push(
    ...withheldPieces(
      executables.filter((piece) => piece.file === MCP_FILE),
      entry,
    ),
  );
  if (opts.commandLine) layers.splice(layers[0]?.scope === "managed" ? 1 : 0, 0, commandLayer(opts.commandLine, root));
  const merged = mergeSettings(layers, opts.home);
  const { permissions } = read.find(({ place }) => place === given?.place)?.checked.value ?? {};
  return {
    settings: merged.settings,
    trusted,
    withheld,
    warnings: [...warnings, ...merged.warnings],
    files,
    executables,
    givenRules: { deny: permissions?.deny ?? [], ask: permissions?.ask ?? [] },
    ...(mcp && executables.some((piece) => piece.file === MCP_FILE && piece.approved) ? { mcp } : {}),
  };
}

/** Of the project's own settings. */
const pluginsIn = (read: readonly { place: SettingsPlace; checked: CheckedFile }[], home: string): string[] =>
  pluginsOf(
    read.flatMap(({ place, checked }) =>
      place.repository ? [{ value: checked.value, base: place.base, source: place.shown, repository: true }] : [],
    ),
    home,
  ).map(({ dir }) => dir);

interface Approved {
  executables: readonly ExecutablePiece[];
  entry: TrustEntry | undefined;
  /** Where the user's own settings are. */
  ownFile: string;
}

/** What of a file counts here: a repository loosens nothing and runs only what was approved. */
function usableOf(
  { place, checked }: { place: SettingsPlace; checked: CheckedFile },
  { executables, entry, ownFile }: Approved,
): Pick<CheckedFile, "value" | "warnings"> & { withheld: WithheldPiece[] } {
  const { value } = checked;
  if (place.repository) {
    const { value: limited, warnings } = withoutLoosening(checked, ownFile);
    const pieces = executables.filter((piece) => piece.file === place.shown);
    return { ...withoutUnapproved(limited, pieces, entry), warnings };
  }
  const said = value.permissions?.defaultMode;
  if (!place.claude || !said || !isEscalating(said)) return { value, warnings: [], withheld: [] };
  const where = checked.at(["permissions", "defaultMode"]);
  return {
    value: { ...value, permissions: { ...value.permissions, defaultMode: undefined } },
    warnings: [`${where}: ${said} is for Claude Code and not used; put it into ${ownFile} if you want it here`],
    withheld: [],
  };
}

const needsGrant = (entry: TrustEntry | undefined, pieces: readonly ExecutablePiece[]): boolean =>
  entry === undefined || pieces.some((piece) => !piece.approved);

const commandLayer = (value: SettingsFile, root: string): Layer => ({
  scope: "command line",
  source: "the command line",
  base: root,
  repository: false,
  value,
  at: () => "the command line",
});

/** JSON begins with a brace; anything else is a file. */
function givenSettings(given: string, root: string): { place: SettingsPlace; text: string } {
  const isJson = given.trim().startsWith("{");
  const shown = isJson ? "--settings" : given;
  const text = isJson ? given : readSettingsText(resolve(given), shown);
  if (text === undefined) throw new HoldfastError("invalid", `--settings: there is no file ${given}`);
  const place = { scope: "command line" as const, file: shown, shown, base: root, claude: false, repository: false };
  return { place, text };
}

function readAll(root: string, places: readonly SettingsPlace[], trusted: boolean) {
  const texts: { place: SettingsPlace; text: string }[] = [];
  const files: LoadedSettings["files"] = [];
  const withheld: WithheldPiece[] = [];
  const hidden = (shown: string) => withheld.push({ file: shown, what: "everything", why: "not trusted" });
  const folders = new Map([".holdfast", ".claude"].map((folder) => [folder, fileExists(`${root}/${folder}`)]));
  for (const place of places) {
    const { file, scope } = place;
    if (place.repository && !folders.get(place.shown.replace(/\/.*$/s, "")))
      files.push({ file, scope, state: "absent" });
    else if (place.repository && !trusted) {
      const there = fileExists(file);
      if (there) hidden(place.shown);
      files.push({ file, scope, state: there ? "not trusted" : "absent" });
    } else {
      const text = readSettingsText(file, place.shown);
      if (text !== undefined) texts.push({ place, text });
      files.push({ file, scope, state: text === undefined ? "absent" : "used" });
    }
  }
  const mcpFile = `${root}/${MCP_FILE}`;
  const mcpThere = fileExists(mcpFile);
  if (mcpThere && !trusted) hidden(MCP_FILE);
  return { texts, files, withheld, mcpText: mcpThere && trusted ? readSettingsText(mcpFile, MCP_FILE) : undefined };
}

/** Zod is loaded only here, when there is something to check. */
async function checkAll(
  texts: readonly { place: SettingsPlace; text: string }[],
  commandLine: SettingsFile | undefined,
  checkRule: CheckRule,
) {
  const problems = (["allow", "ask", "deny"] as const).flatMap((list) =>
    (commandLine?.permissions?.[list] ?? []).flatMap((rule) => {
      const says = checkRule(rule);
      return says === undefined ? [] : [`the command line: ${says}`];
    }),
  );
  const read = [];
  if (texts.length > 0) {
    const { checkSettings } = await import("./check.ts");
    for (const { place, text } of texts) {
      const foreign = place.scope === "command line" ? "leave" : "refuse";
      const checked = checkSettings(text, place.shown, place.claude, checkRule, { foreign });
      problems.push(...checked.problems);
      read.push({ place, checked });
    }
  }
  if (problems.length > 0) {
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    throw new HoldfastError("invalid", `${problems[0]}${more}`, { detail: { problems } });
  }
  return read;
}

/** One line for each thing that was left out, or one for all when the project is not trusted. `also`: what else of it is not used then. */
export function describeWithheld(
  { trusted, withheld }: Pick<LoadedSettings, "trusted" | "withheld">,
  also: readonly string[] = [],
): string[] {
  const files = [...withheld.map(({ file }) => file), ...(trusted ? [] : also)].map((file) =>
    file.replaceAll("\n", "\\n"),
  );
  if (files.length === 0) return [];
  if (!trusted) return [`not trusted, and not used: ${files.join(", ")}; look at them, then ${TO_TRUST}`];
  return withheld.map(({ file, what, why }) => `${file}: ${what} not used: ${why}; look at it, then ${TO_TRUST}`);
}

const TO_TRUST = "run `holdfast trust add`, or this with --trust";
