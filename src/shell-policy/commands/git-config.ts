// `git config` and `git -c`: which keys make git run programs or look elsewhere.
import { ask, askFirm, deny } from "../finding.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall } from "./call.ts";
import { readFlags } from "./flags.ts";

const DANGEROUS =
  /^(?:core\.(?:hookspath|fsmonitor|editor|pager|sshcommand|askpass|gitproxy|worktree|attributesfile|excludesfile|alternaterefscommand|virtualfilesystem|bare|repositoryformatversion)|alias\.|filter\.|diff\..*(?:command|textconv|external)|diff\.external|diff\.tool|diff\.guitool|merge\..*(?:driver|tool)|merge\.tool|credential|include|url\.|remote\..*(?:url|pushurl|uploadpack|receivepack|proxy|vcs)|protocol|gpg|pager\.|sequence\.editor|uploadpack|receive\.|http\.|https\.|browser|difftool|mergetool|man\.|submodule|safe\.|init\.templatedir|commit\.template|trailer|interactive\.difffilter|ssh\.|transfer|extensions|instaweb|sendemail|web\.|guitool|help\.|imap|lfs|maintenance|fsck|hook\.|blame\.ignorerevsfile|user\.signingkey|tar\.|tag\.gpgsign|commit\.gpgsign)/i;
const HARMLESS =
  /^(?:color\.|advice\.|core\.(?:quotepath|abbrev|autocrlf|ignorecase|precomposeunicode|preloadindex)|log\.|diff\.(?:noprefix|mnemonicprefix|renames|algorithm|context|wserrorhighlight|color)|status\.|column\.|user\.(?:name|email)|grep\.|blame\.|i18n\.|rerere\.|pretty\.|format\.pretty|init\.defaultbranch)/i;

/** No signature, no editor. */
const isTurnedOff = (key: string, value: string): boolean =>
  (/^(?:commit|tag)\.gpgsign$/i.test(key) && value === "false") ||
  (/^(?:core|sequence)\.editor$/i.test(key) && /^(?:true|:)$/.test(value));

/** The pair of `-c key=value`. */
export function judgeKey(call: CommandCall, pair: string): undefined {
  const [key = "", value = ""] = [pair.split("=")[0], pair.slice(pair.indexOf("=") + 1)];
  if (/^core\.pager$/i.test(key) && /^(?:cat)?$/.test(value)) return;
  if (/^core\.fsmonitor$/i.test(key) && value === "false") return;
  if (/^core\.hookspath$/i.test(key) && value === "/dev/null") return;
  if (isTurnedOff(key, value)) return;
  if (DANGEROUS.test(key)) call.say(deny(`git -c ${key} can run programs`, "runs_code"));
  else if (!HARMLESS.test(key)) call.say(askFirm(`git -c ${key} is not known to be harmless`, "runtime"));
}

const FLAGS =
  "-lz -f:r --get --get-all --get-regexp --get-urlmatch --list --null --name-only --show-origin --show-scope --local --global --system --worktree --type: --bool --int --bool-or-int --path --expiry-date --default: --includes --no-includes --all --value: --regexp --fixed-value --file:r --blob: --get-color --get-colorbool --unset~ --unset-all~ --add~ --replace-all~ --rename-section~ --remove-section~ --edit~ -e~ --comment: --append~";

export function config(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, { flags: FLAGS });
  let words = parsed.operands;
  const verb = words[0]?.text ?? "";
  const isVerb = ["get", "list", "set", "unset", "rename-section", "remove-section", "edit"].includes(verb);
  if (isVerb) words = words.slice(1);
  const key = words[0]?.text ?? "";
  const isRead = isVerb
    ? verb === "get" || verb === "list"
    : parsed.has(
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "--get-color",
        "--get-colorbool",
      ) ||
      (words.length === 1 && !parsed.has("--unset", "--unset-all", "--add", "--remove-section", "--edit", "-e"));
  if (isRead) {
    if (/credential|token|password|extraheader/i.test(key)) call.say(askFirm("it may print credentials", "secret"));
    return undefined;
  }
  if (parsed.has("--global", "--system")) call.say(deny("it changes git's settings outside the project", "outside"));
  const file = parsed.value("-f", "--file");
  if (file) call.write(file);
  if (parsed.has("--edit", "-e") || verb === "edit") call.say(deny("it opens git's settings in an editor"));
  if (key === "" || !/^[\w-]+\./.test(key) || (DANGEROUS.test(key) && !isTurnedOff(key, words[1]?.text ?? "")))
    call.say(deny(`the git setting ${key} can run programs or redirect git`, "runs_code"));
  else call.say(ask("it changes the repository's settings"));
  return undefined;
}
