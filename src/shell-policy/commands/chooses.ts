// Flags that tell a program what other program to run, or where to download it from: an allow rule for the program does not cover them.
import type { Field } from "../shell/field.ts";
import { flagOf } from "./prose.ts";

/** The value is a program, whatever it is. */
const PROGRAM =
  /^--?(?:.*[-_.])?(?:exec|execute|executable|shell|script-shell|command|cmd|program|binary|wrapper|launcher|linker|extld|run[-_]under|askpass|init-hook|post-renderer|vault-password-file|toolexec|vettool|pager|editor|rsh|eval|javaagent|agentlib|agentpath|proxy-?command|ssh-?command|credential-helper|fplugin|smtp-server|httpd|node-options|jvmargs|jvm-args|java-options)(?::.*)?$/i;
/** The value may be a name; it is a program when it is a path. */
const CODE =
  /^--?(?:.*[-_.])?(?:filter|plugins?|browser|extension|loader|compiler|interpreter|renderer|engine|driver|runner|toolchain|toolchain-file|pre|post|hooks?|script|init|rcfile|bootstrap|require|import|load|module|formatter|reporter|transformer|resolver|preprocessor|postprocess|helper|python|on-\w+|pre-\w+|post-\w+)$/i;
const IS_PATH = /^(?:\.{0,2}\/|~|\$)|\.(?:so|dylib|dll|sh|bash|py|lua|js|cjs|mjs|rb|pl|cmake|gradle)$/;
/** The value says where code, packages or answers come from. */
const SOURCE =
  /^--?(?:.*[-_.])?(?:registry|i|index|index-url|extra-index-url|find-links|server|endpoint|endpoint-url|proxy|import-map|mirror|repository|source|with|from|api-url|base-url|host)$/i;
const ADDRESS = /^(?:git\+)?[a-z][a-z0-9+.-]*:\/\//i;
const HERE = /^(?:[a-z+]+:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/i;
/** As a setting: `-DCMAKE_C_COMPILER=x`, `linker=x`, `-Dexec.executable=x`, `SO_PATH:x`. */
const SETTING =
  /^(?:-[DPp]:?)?(?:[\w.]*[._])?(?:COMPILER|COMPILER_LAUNCHER|LINKER|LAUNCHER|TOOLCHAIN_FILE|MAKE_PROGRAM|PROGRAM|EXECUTABLE|SHELL|SCRIPT_SHELL|ARGLINE|SO_PATH|JAVAAGENT|PAGER|EDITOR|ASKPASS)[=:]./i;
/** `--config extensions.x=./y`, `LD=./x`: settings that load code or name a program by its path. */
const LOADS =
  /^(?:--config=)?(?:extensions?|plugins?|hooks?|alias|merge-tools|diff-tools|ui)\.[\w.-]*=.|^(?:CC|CXX|CPP|LD|AR|AS|LIBTOOL|SWIFT_EXEC)=\S*\//;

/** They let what is given run programs or load code, without a value. */
const OPENS = /^--?(?:shell-escape|enable-write18|write18|load|allow-exec|allow-scripts|unsafe-perm|eval-stdin)$/i;

/** A language inside the word starts programs: `-if 'system("x")'`, `-sOutputFile=%pipe%sh`, `|sh`. */
const STARTS =
  /\b(?:system|exec|popen|shell_exec|passthru|spawn|qx|Process)\s*\(|%pipe%|(?:^|=)\|\s*\S|^eval\s|\bsys\.process\b|\bjava\.shell\b|\bProcessBuilder\b|\\write18|--privileged\b|\be?syscmd\s*\(/;
/** A shell, alone or with what it runs. */
const SHELL = /(?:^|[\s:='"(])(?:ba|z|da|k)?sh(?:$|\s+\S)/;
/** The value of a long flag is a script. */
const SCRIPT = /(?:^|\/)[\w.-]+\.(?:sh|bash|exe|bat|cmd|ps1)$/;
/** Another machine, wherever it stands in the word. */
const ELSEWHERE =
  /\b[a-z][a-z0-9+.-]*:\/\/(?!(?:[^/@\s]*@)?(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$))[\w[]|^(?:github|gitlab|bitbucket)\.(?:com|org)\/|^[\w.-]+@[\w.-]+:/i;

/** Whether a text in any language starts programs. */
export const startsPrograms = (text: string): boolean => STARTS.test(text);

export type ProgramChoice = "program" | "source";

interface Told {
  name: string;
  runsProject?: boolean;
  /** No one knows what it does with its words. */
  isUnknown?: boolean;
}

/** What the word chooses: by the flag it belongs to, as a setting, or by flags inside it. */
export function choicesIn(
  word: string,
  before: string,
  { name: program, runsProject = false, isUnknown = false }: Told,
): ProgramChoice[] {
  const flag = flagOf(word, before);
  if (program === "psql" && flag === "--command") return []; // a query
  const value = word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : word;
  const isNextFlag = value === word && value.startsWith("-");
  const own = flag === "" || isNextFlag ? undefined : chosenBy(flag, value, runsProject);
  const inner = [...value.matchAll(/(?:^|[\s'",=])(--?[A-Za-z][\w.-]*)[=: ]([^\s'",]+)/g)].map(
    ([, name = "", chosen = ""]) => chosenBy(name, chosen, runsProject),
  );
  const isScript = SCRIPT.test(value) && /^--[\w-]{3,}/.test(flag) && !isNextFlag;
  const isCode = isUnknown && /^-(?:e|-eval|-expr)$/.test(flag) && /[\s()$;"]/.test(value) && !/^\w+=/.test(value);
  const isOpening =
    SETTING.test(word) ||
    LOADS.test(word) ||
    OPENS.test(word) ||
    startsPrograms(word) ||
    SHELL.test(word) ||
    isScript ||
    isCode;
  if (isUnknown && ELSEWHERE.test(value)) inner.push("source");
  return [own, ...inner, isOpening ? ("program" as const) : undefined].filter((one) => one !== undefined);
}

function chosenBy(flag: string, value: string, runsProject: boolean): ProgramChoice | undefined {
  if (PROGRAM.test(flag)) return "program";
  if (!runsProject && CODE.test(flag) && IS_PATH.test(value)) return "program";
  if (SOURCE.test(flag) && ADDRESS.test(value) && !HERE.test(value)) return "source";
  return undefined;
}

/** `plugin install x`: code of others becomes part of the program. */
export const bringsCode = (before: string, word: string): boolean =>
  /^(?:plugin|extension|addon)s?$/.test(before) && /^(?:install|add|enable|update|upgrade)$/.test(word);

const VERBS = /^(?:run|dlx|exec|x|install|add|i|tool|pip|eval|create|get)$/;

/** The package or script itself is an address: `deno run https://…`, `pnpm dlx https://…`. */
export function isFetchedCode(args: readonly Field[], at: number, runsProject: boolean): boolean {
  const word: string | undefined = args[at]?.text;
  if (word === undefined) return false;
  const isNamed = /^[\w@./[\]-]+\s*@\s*(?:git\+)?[a-z]+:\/\//.test(word); // `x@https://…`, `x @ https://…`
  if (!(ADDRESS.test(word) || isNamed) || HERE.test(word)) return false;
  if (/(?:^|[.:-])(?:install|add)$/.test(args[at - 1]?.text ?? "")) return true;
  return runsProject && args.slice(0, at).every((f) => f.text.startsWith("-") || VERBS.test(f.text));
}
