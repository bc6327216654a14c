// `holdfast completion bash|zsh|fish`: the scripts. They know everything but ids, which they ask for.

import { own } from "../ledger/own.ts";
import {
  type CompletionEntry,
  type CompletionKind,
  commandEntries,
  completionEntries,
  dashed,
  flagArguments,
  ID_KINDS,
  isIdKind,
  verbNames,
} from "./completion-entries.ts";
import { COMMANDS } from "./table.ts";

/** Contract: prints the script; does nothing else. */
export async function completion(shell: "bash" | "zsh" | "fish"): Promise<number> {
  process.stdout.write({ bash, zsh, fish }[shell]());
  return 0;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const names = (): string[] => commandEntries().map(([name]) => name);
const kindText = (kind: CompletionKind): string =>
  typeof kind === "string" ? kind : `values:${kind.values.join(" ")}`;

/** In bash and zsh: the verbs of a command. */
const verbsFunction = (): string => `_holdfast_verbs() {
  case $1 in
${commandEntries()
  .filter(([, command]) => verbNames(command).length > 0)
  .map(([name, command]) => `    ${name}) echo ${verbNames(command).join(" ")} ;;`)
  .join("\n")}
    help) echo ${names().join(" ")} ;;
  esac
}`;

/** In bash and zsh: sets `kind` and `flags` from what was typed before `cur`. `before`: those words, as the shell writes them. */
const findKind = (
  before: string,
): string => `  local command= verb= prev= skip= prompt= first= word count=0 flags= kind=
  for word in ${before}; do
    prev=$word
    if [[ -n $skip ]]; then skip=; continue; fi
    case $word in
      ${[...flagArguments().keys()].join("|")}) skip=1 ;;
      -p|--print) prompt=1 ;;
      -*) ;;
      *)
        if [[ -z $command ]]; then command=$word
        elif [[ -z $verb && " $(_holdfast_verbs "$command") " == *" $word "* ]]; then verb=$word
        else count=$((count + 1)); first=\${first:-$word}; fi ;;
    esac
  done
  if [[ -n $skip ]]; then
    case $prev in
${[...flagArguments()].map(([name, kind]) => `      ${name}) kind=${quoted(kindText(kind))} ;;`).join("\n")}
    esac
  fi
  if [[ -n $prompt ]]; then command= verb=; fi
  case "$command\${verb:+ $verb}" in
${completionEntries().map(caseOf).join("\n")}
  esac
  if [[ $cur == -* ]]; then kind=flags
  elif [[ -z $kind && -n $prompt && $cur == @* ]]; then kind=brought
  elif [[ -n $kind || -n $prompt ]]; then :
  elif [[ -z $command ]]; then kind=${quoted(`values:${[...names(), "help"].join(" ")}`)}
  elif [[ -z $verb ]]; then kind="values:$(_holdfast_verbs "$command")"; fi`;

function caseOf({ name, flags, words }: CompletionEntry): string {
  const kinds = words.flatMap((kind, i) =>
    kind === "anything" ? [] : [`[[ -z $kind && $count == ${i} ]] && kind=${quoted(kindText(kind))}`],
  );
  return `    ${quoted(name)}) ${[`flags=${quoted(flags.flatMap(dashed).join(" "))}`, ...kinds].join("; ")} ;;`;
}

const bash = (): string => `# Completion of holdfast for bash. In ~/.bashrc: source <(holdfast completion bash)
${verbsFunction()}
_holdfast() {
  local cur=\${COMP_WORDS[COMP_CWORD]} part
  local -a before=()
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $part == = ]] || before+=("$part"); done # --flag=value comes in three
  [[ $cur == = ]] && cur=
${findKind(`"\${before[@]}"`)}
  COMPREPLY=()
  case $kind in
    flags) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    ${ID_KINDS.join("|")}) COMPREPLY=($(compgen -W "$(holdfast completion ids $kind $first 2>/dev/null | cut -f1)" -- "$cur")) ;;
    brought) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -P @ -f -- "\${cur#@}")) ;;
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    values:*) COMPREPLY=($(compgen -W "\${kind#values:}" -- "$cur")) ;;
  esac
}
complete -F _holdfast holdfast
`;

const zsh = (): string => `#compdef holdfast
# Completion of holdfast for zsh. In ~/.zshrc, after compinit: source <(holdfast completion zsh)
${verbsFunction()}
_holdfast() {
  local cur=\${words[CURRENT]}
${findKind(`"\${(@)words[2,CURRENT-1]}"`)}
  case $kind in
    flags) compadd -- \${=flags} ;;
    ${ID_KINDS.join("|")}) compadd -- \${(f)"$(holdfast completion ids $kind $first 2>/dev/null | cut -f1)"} ;;
    brought) compset -P @; _files ;;
    file) _files ;;
    folder) _files -/ ;;
    values:*) compadd -- \${=\${kind#values:}} ;;
  esac
}
compdef _holdfast holdfast
`;

const FISH = "# Completion of holdfast for fish: holdfast completion fish > ~/.config/fish/completions/holdfast.fish";
const FILES = "-r -F";
const idsOf = (kind: CompletionKind): string => `'(holdfast completion ids ${kindText(kind)} 2>/dev/null)'`;

function fish(): string {
  const offer = (name: string, rest: string, help: string) =>
    `complete -c holdfast${rest.endsWith(FILES) ? "" : " -f"} -n ${quoted(isAt(name))} ${rest} -d ${quoted(help.replace(/[;:(].*$/s, "").trim())}`;
  const words = commandEntries().flatMap(([name, command]) => [
    offer("", `-a ${name}`, command.help),
    ...Object.entries(command.verbs).flatMap(([word, { help }]) => (word ? [offer(name, `-a ${word}`, help)] : [])),
  ]);
  const rest = completionEntries().flatMap(({ name, flags, words: kinds }) => [
    ...flags.map(({ names: long, short, takes, help }) => {
      const spelt = [...(short ? [`-s ${short}`] : []), ...long.map((one) => `-l ${one}`)];
      return offer(name, [...spelt, ...(takes ? [fishKind(takes)] : [])].join(" "), help);
    }),
    ...kinds.filter(isIdKind).map((kind) => offer(name, `-a ${idsOf(kind)}`, `a ${kind}`)),
    ...(kinds.includes("file") || kinds.includes("folder") ? [`complete -c holdfast -F -n ${quoted(isAt(name))}`] : []),
  ]);
  return `${[FISH, ...words, offer("", "-a help", "what a command takes"), ...rest].join("\n")}\n`;
}

/** The condition under which that command, or verb, is the one being typed. */
function isAt(name: string): string {
  const [command = "", verb] = name.split(" ");
  if (command === "") return "__fish_use_subcommand";
  const seen = `__fish_seen_subcommand_from ${command}`;
  if (verb) return `${seen}; and __fish_seen_subcommand_from ${verb}`;
  const known = own(COMMANDS, command);
  const verbs = known ? verbNames(known) : [];
  return verbs.length > 0 ? `${seen}; and not __fish_seen_subcommand_from ${verbs.join(" ")}` : seen;
}

function fishKind(kind: CompletionKind): string {
  if (isIdKind(kind)) return `-x -a ${idsOf(kind)}`;
  if (kind === "file" || kind === "folder") return FILES;
  return kind === "anything" ? "-x" : `-x -a ${quoted(kind.values.join(" "))}`;
}
