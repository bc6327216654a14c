// Command lines that are printed for people to type: they work as printed, in any directory.
import path from "node:path";
import { hasPassword, isServer, passwordLeftOut } from "../../ledger/server-address.ts";
import { hexOf } from "../../text/visible.ts";
import { printable } from "./printable.ts";

/** What says where a command works: as it was typed. */
export interface Place {
  cwd: string;
  state?: string | undefined;
  /** In the terminal commands open the terminal again; otherwise they are for one turn. */
  door?: "terminal";
}

/** What would act on a terminal, or hide in it. */
const UNSEEN = /[\u0000-\u001f\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu;

/** One word for a shell. */
export function shellWord(text: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text)) return text;
  const hidden = text.replace(UNSEEN, "");
  if (hidden === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  const spelt = (char: string) => {
    const code = hexOf(char);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code}`;
  };
  return `$'${text.replace(/[\\']/g, "\\$&").replace(UNSEEN, spelt)}'`;
}

/** `root`: the directory it belongs to; the state directory is named where it was given. */
export function commandLine(words: readonly string[], flags: Place, root?: string): string {
  explainState(flags);
  const at = ["--cwd", root || path.resolve(flags.cwd)];
  return [...["holdfast", ...words, ...at].map(shellWord), ...stateWords(flags.state)].join(" ");
}

/** Which addresses it was said of, by this process. */
const explained = new Set<string>();

/** A printed line has `$HOLDFAST_STATE` where the address holds a password: it works once that is set, which is said once. */
export function explainState({ state }: Pick<Place, "state">): void {
  if (state === undefined || explained.has(state)) return;
  if (!isServer(state) || !hasPassword(state) || process.env.HOLDFAST_STATE === state) return;
  explained.add(state);
  const address = `'${passwordLeftOut(state, "PASSWORD").replaceAll("'", "%27")}'`;
  process.stderr.write(
    `holdfast: --state holds a password, which is not printed; for the commands below, with it in place of PASSWORD: export HOLDFAST_STATE=${printable(address)}\n`,
  );
}

/** How to take that context up again. `more`: flags beside. */
export const resumeLine = (
  context: { id: string; root?: string },
  flags: Place & { stay?: boolean },
  more: readonly string[] = [],
): string => {
  const how =
    flags.door === "terminal" ? ["-r", context.id] : ["-p", "-r", context.id, ...(flags.stay ? ["--stay"] : [])];
  return commandLine([...how, ...more], flags, context.root);
};

/** How to begin one. */
export const startLine = (flags: Place): string => `${commandLine(flags.door === "terminal" ? [] : ["-p"], flags)} "…"`;

/** How a request for approval is seen before it is answered. */
export const requestLine = (requestId: string, flags: Place, root?: string): string =>
  commandLine(["approve", "show", requestId], flags, root);

/** An address with a password is not printed: the variable stands for it. */
function stateWords(state: string | undefined): string[] {
  if (state === undefined) return [];
  if (!isServer(state)) return ["--state", shellWord(absoluteState(state))];
  return ["--state", hasPassword(state) ? '"$HOLDFAST_STATE"' : shellWord(state)];
}

export function absoluteState(state: string): string {
  const [scheme = ""] = /^(sqlite|file):(\/\/)?/.exec(state) ?? [];
  return `${scheme}${path.resolve(state.slice(scheme.length))}`;
}
