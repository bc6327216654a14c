// Git's commands that change something: flags that run programs, addresses, places, and what destroys for good.
import { ask, askExact, askGrave, deny } from "../finding.ts";
import { cut, cutOff, field, fieldOf, match } from "../shell/field.ts";
import { isThere, judgeField } from "../shell/paths.ts";
import type { CommandCall } from "./call.ts";

/** Flags that run programs or write elsewhere, whatever the subcommand. */
const RUNS =
  "--upload-pack --receive-pack --ext-diff --textconv --open-files-in-pager --template --config --extcmd --tool".split(
    " ",
  );
/** Git takes any unique beginning of a long name. */
const isOrBegins = (text: string, flags: readonly string[]): boolean => {
  const [name = text] = text.split("=");
  return flags.some((flag) => flag === name || (name.length > 3 && name.startsWith("--") && flag.startsWith(name)));
};
const WRITES_PATHS = new Set(
  "clone worktree init bundle format-patch mv rm checkout-index archive submodule restore checkout".split(" "),
);
/** They take files into the repository, or only name them: what is protected may be committed. */
const ONLY_READS = new Set(
  "add stage commit stash tag notes branch push fetch pull reset merge rebase cherry-pick revert update-index replace".split(
    " ",
  ),
);

export function judgeChange(call: CommandCall, name: string, refused: string | undefined): undefined {
  call.rest.only = undefined;
  call.rest.onlyReads = ONLY_READS.has(name);
  for (const [i, arg] of call.args.entries()) {
    const { text } = arg;
    if (isOrBegins(text, RUNS) || /^--gpg-sign=.*sh/.test(text) || isOrBegins(text, refused?.split(" ") ?? []))
      call.say(deny(`git ${name} ${text} runs a program`, "runs_code"));
    if (/^(?:ext|fd)::|^[a-z+]+:\/\/(?:[^/@]*@)?-/.test(text))
      call.say(deny("the address runs a program", "runs_code"));
    const out = match(arg, /^(?:--ou\w*(?:-\w*)?=|-o$)(.*)$/d)?.[1];
    if (out) call.write(out.text === "" ? (call.args[i + 1] ?? field("")) : fieldOf(out));
  }
  judgePlaces(call, name);
  judgeAddress(call, name);
  if (name === "rebase") runsBetween(call);
  else if (call.args.some((f) => isOrBegins(f.text, ["--exec"])))
    call.say(deny(`git ${name} --exec runs a program`, "runs_code"));
  if (name === "clone" && call.args.some((f) => /^-[lnqvs]*[uc]/.test(f.text)))
    call.say(deny("git clone would run a program", "runs_code"));
  if (name === "push" && call.args.some((f) => /^[+:]./.test(f.text)))
    call.say(askExact("it goes over what others have there", "changes"));
  if (destroys(name, call)) call.say(askGrave(`git ${name} takes away what is kept nowhere else`, "changes"));
}

function judgePlaces(call: CommandCall, name: string): undefined {
  for (const f of call.args) {
    if (!f.text.startsWith("-") && /^(?:\/|\.\.)/.test(f.text) && WRITES_PATHS.has(name)) call.write(f);
    // A protected name stays protected, whatever rule allows the subcommand.
    const isPath = !f.text.startsWith("-") && !f.text.includes(":") && WRITES_PATHS.has(name);
    if (isPath && judgeField(call.shell, f, "edit").firm) call.write(f);
  }
  const directory = call.args.find((f) => /^--(?:directory|separate-git-dir)=/.test(f.text));
  if (directory) call.write({ ...directory, ...cut(directory, directory.text.indexOf("=") + 1) });
  if (call.args.some((f) => f.text === "--unsafe-paths" || f.text.startsWith("--separate-git-dir")))
    call.say(deny("it writes outside the repository", "outside"));
}

/** `git rebase -x CMD`: the command is judged as what it is. */
function runsBetween(call: CommandCall): undefined {
  for (const [i, arg] of call.args.entries()) {
    if (!isOrBegins(arg.text, ["--exec"]) && !/^-[a-wyzA-Z]*x/.test(arg.text)) continue;
    const inline = cutOff(arg, /^(?:--[a-z]+=?|-[a-wyzA-Z]*x)/);
    call.say(ask("git rebase starts a command", "runs_code"));
    call.rest.judged.add(arg);
    call.runText(inline.text === "" ? (call.args[i + 1] ?? field("")) : inline);
  }
}

/** Options whose value is the next word. */
const TAKES = /^(?:-o|--push-option|--repo|--receive-pack|--upload-pack|--depth|--deepen|-j|--jobs|--refmap)$/;

/** The repository that is named is a remote; everything else is an address. */
function judgeAddress(call: CommandCall, name: string): undefined {
  const words: string[] = call.args.map((f) => f.text);
  if (["fetch", "pull", "clone", "remote"].includes(name) && words.some((w) => /\b\d{1,3}(?:\.\d{1,3}){3}\b/.test(w)))
    call.say(deny("it uses a bare address", "network"));
  if (!["push", "fetch", "pull"].includes(name)) return;
  const at = words.findIndex((w, i) => !w.startsWith("-") && !TAKES.test(words[i - 1] ?? ""));
  const named = words.flatMap((w, i) => (/^--repo(?:=|$)/.test(w) ? [w.slice(7) || (words[i + 1] ?? "")] : []));
  const first = call.args[at];
  const isFolder = first !== undefined && isThere(call.shell, first);
  const isAddress = isFolder || [words[at] ?? "", ...named].some((w) => /[:~/]|^\./.test(w));
  if (!isAddress) return;
  if (name === "push") call.say(deny("it pushes to an address that is no remote of the repository", "network"));
  else call.say(askExact("it takes history from an address that is no remote of the repository", "network"));
}

/** Commits that no reference names any more, files that are in no commit, references elsewhere. */
function destroys(name: string, call: CommandCall): boolean {
  const words: string[] = call.args.map((f) => f.text);
  const has = (...flags: string[]) => words.some((w) => isOrBegins(w, flags));
  const short = (letters: string) => words.some((w) => new RegExp(`^-[a-zA-Z]*[${letters}]`).test(w));
  const verb = words.find((w) => !w.startsWith("-")) ?? "";
  const isDry = short("n") || has("--dry-run");
  switch (name) {
    case "branch":
      return short("DMCf") || has("--force");
    case "reset":
      return has("--hard");
    case "clean":
    case "prune":
      return !isDry;
    case "gc":
      return words.some((w) => /^--prune(?:=|$)/.test(w));
    case "repack":
      return short("a") && short("d");
    case "reflog":
      return /^(?:expire|delete|drop)$/.test(verb) && !isDry;
    case "stash":
      return verb === "drop" || verb === "clear";
    case "update-ref":
      return short("d") || has("--stdin");
    case "checkout":
    case "switch":
      return short("fBC") || has("--force", "--discard-changes", "--force-create");
    case "read-tree":
      return has("--reset");
    case "worktree":
      return verb === "remove" && (short("f") || has("--force"));
    case "push":
      return (
        words.some((w) => w === "--force" || /^[+:]./.test(w)) || short("fd") || has("--mirror", "--delete", "--prune")
      );
    default:
      return false;
  }
}
