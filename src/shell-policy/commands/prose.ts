// Which words of a command are a text for people, an expression, or about another machine: not paths of this one.
import { own } from "../../ledger/own.ts";
import type { Field } from "../shell/field.ts";

/** Flags of any program whose value is prose. */
const SAYS =
  /^--(?:message|title|body|description|comment|notes?|subject|summary|reason|author|grep|search|query|format|pretty|jq|label|name|tag|msg|text|prompt)$/;
/** What is left out is neither read nor written; a file that lists it is read. */
const LEAVES_OUT = /^--?(?:exclude|ignore|skip|omit|without)(?:[-_](?:dirs?|patterns?|globs?|regex|names?))?$/;
/** Where compilers look for headers and libraries of the system. */
const SYSTEM_PLACE = /^-(?:I|L|isystem|iquote|idirafter|F)$/;

/** By program: flags whose value is text, as a pattern over the flag. */
const BY_PROGRAM: Record<string, RegExp> = {
  git: /^(?:-[a-zA-Z]*[mSG]|--(?:message|author|date|grep|format|pretty|trailer|cleanup|sort|contains|branch|since|until|decorate-refs))$/,
  hg: /^-m$/,
  svn: /^-m$/,
  jj: /^-m$/,
  gh: /^(?:-[tbnmlqsfBHaR]|--(?:raw-field|head|base|assignee|reviewer|repo|title|body|notes))$/,
  glab: /^-[tdml]$/,
  npm: /^-m$/,
  docker:
    /^(?:-[ewpltuhe]|--(?:env|workdir|publish|name|label|tag|user|entrypoint|hostname|network|build-arg|target|platform|filter|health-cmd|tmpfs))$/,
  kubectl: /^(?:-[nl]|--(?:namespace|selector|field-selector|context|image))$/,
  curl: /^(?:-[HAXem]|--(?:header|user-agent|request|referer))$/,
  psql: /^(?:-[dhpU]|--(?:dbname|host|port|username))$/,
  pytest: /^-[km]$/,
  jest: /^-t$/,
  mvn: /^-pl$/,
};
const KIN: Record<string, string> = { podman: "docker", nerdctl: "docker", "docker-compose": "docker", oc: "kubectl" };

/** The flag that the word belongs to, joined (`--title=x`) or before it. */
export function flagOf(word: string, before: string): string {
  const joined = /^(--?[A-Za-z][\w.-]*)=/.exec(word)?.[1];
  return joined ?? (/^-{1,2}[A-Za-z][\w.-]*$/.test(before) ? before : "");
}

/** Whether the word at that place is text whatever it looks like. */
export function isText(program: string, args: readonly Field[], at: number): boolean {
  const word: string | undefined = args[at]?.text;
  if (word === undefined) return false;
  const flag = flagOf(word, args[at - 1]?.text ?? "");
  const texts = own(BY_PROGRAM, own(KIN, program) ?? program);
  if (/^-m./.test(word) && texts?.test("-m")) return true; // `-m"fix ~/x"`
  if (flag === "") return false;
  if (LEAVES_OUT.test(flag) || texts?.test(flag)) return true;
  const value = word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : word;
  return SAYS.test(flag) && (/\s/.test(value) || !/^[~/.$@]/.test(value)); // a path alone is meant as one
}

/** `-I/usr/include`: a place of the system, for reading. */
export const isSystemPlace = (flag: string, path: string): boolean =>
  SYSTEM_PLACE.test(flag) && /^\/(?:usr|opt|lib(?:32|64)?)(?:\/|$)/.test(path);
