// Assignments: which variables change what programs do, which are harmless, and what the shell knows afterwards.
import type { Assignment } from "unbash";
import { only } from "../../ledger/only.ts";
import { addFinding, LIMITS } from "../evaluation.ts";
import { allow, ask, askFirm, deny, type PolicyVerdict } from "../finding.ts";
import { inspectArithmeticText, inspectExpression } from "./arithmetic.ts";
import { expandValue, expandWords } from "./expand.ts";
import { anything, cut, type Field, field, hole, holeField, isKnown, join, plainly } from "./field.ts";
import { parseShell } from "./parse.ts";
import { copyScope } from "./scope.ts";
import type { Shell } from "./shell.ts";
import { isHarmlessValue, isMeant } from "./variables.ts";

/** They make programs load code, look elsewhere or start other programs. */
const DANGEROUS =
  /^(?:PATH|HOME|IFS|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|BASH_FUNC_.*|PROMPT_COMMAND|PS[0-4]|CDPATH|GLOBIGNORE|FIGNORE|HISTFILE|SHELL|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|GIT_.*|SSH_.*|.*ASKPASS.*|.*PAGER|LESS|LESSOPEN|LESSCLOSE|LESSKEY.*|MORE|MANPAGER|MANROFFOPT|MANOPT|.*EDITOR|VISUAL|BROWSER|NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_REPL_.*|NPM_CONFIG_.*|npm_config_.*|YARN_.*|PNPM_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|MAVEN_OPTS|GRADLE_OPTS|CLASSPATH|GOFLAGS|GOPATH|GOROOT|GOPROXY|GONOSUMDB|CGO_.*|RUSTC.*|RUSTFLAGS|CARGO_.*|CC|CXX|CPP|LD|AR|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|CFLAGS|LDFLAGS|TAR_OPTIONS|GZIP|BZIP2?|XZ_OPT|XZ_DEFAULTS|UNZIP|ZIPOPT|RSYNC_.*|CVS_RSH|GREP_OPTIONS|RIPGREP_CONFIG_PATH|FZF_.*|ACK_.*|AWKPATH|AWKLIBPATH|GAWK_.*|POSIXLY_CORRECT|TMPDIR|TEMP|TMP|XDG_.*|DOCKER_.*|KUBECONFIG|AWS_.*|GOOGLE_.*|AZURE_.*|ALL_PROXY|.*_PROXY|.*_proxy|CURL_.*|WGETRC|SSL_.*|OPENSSL_.*|TERMINFO.*|TERMCAP|TERMPATH|MAIL.*|EXINIT|VIMINIT|MYVIMRC|INPUTRC|FCEDIT|FPATH|ZDOTDIR|PSQLRC|PSQL_.*|SUDO_.*|DISPLAY|WAYLAND_DISPLAY|DBUS_.*|SYSTEMD_.*|JQ_.*|BAT_.*|DELTA_.*|HOLDFAST_.*|CLAUDE_.*|ANTHROPIC_.*|OPENAI_.*|ELECTRON_.*|CHROME_.*|PHP.*|LUA_.*|R_.*|OPAMROOT|CAML.*|GHC.*|DOTNET_.*|COMPlus_.*|MSBUILD.*|MONO_.*|QT_.*|GTK_.*|GDK_.*|GIO_.*|LIBGL_.*|VK_.*|MALLOC_.*|GLIBC_.*|ASAN_.*)$/;
const SAFE =
  /^(?:NODE_ENV|MIX_ENV|RAILS_ENV|RACK_ENV|APP_ENV|FLASK_ENV|CI|FORCE_COLOR|NO_COLOR|CLICOLOR|CLICOLOR_FORCE|COLOR|COLUMNS|LINES|TZ|LANG|LANGUAGE|LC_[A-Z]+|TERM|DEBUG|VERBOSE|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|GOOS|GOARCH|GO111MODULE|TEST|TESTS|NUM|COUNT|BLOCKSIZE|BLOCK_SIZE|TIME_STYLE|LS_COLORS|QUOTING_STYLE|PORT|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|GIT_PS1_.*|POSIXLY_CORRECT|PAGER|GIT_PAGER|MANPAGER|VITEST_.*|JEST_.*)$/;
const SAFE_VALUES: Record<string, RegExp> = {
  PAGER: /^(?:cat)?$/,
  GIT_PAGER: /^(?:cat)?$/,
  MANPAGER: /^(?:cat)?$/,
  GIT_TERMINAL_PROMPT: /^[01]$/,
  GIT_OPTIONAL_LOCKS: /^[01]$/,
  TZ: /^[\w/+:,.-]*$/,
  LANG: /^[\w.@-]*$/,
  TERM: /^[\w-]*$/,
};

const isSafe = (name: string, value: Field): boolean =>
  isHarmlessValue(name, value) || (SAFE.test(name) && isKnown(value) && (SAFE_VALUES[name]?.test(value.text) ?? true));

/** By them git lets a list of commits or a message be edited; what sed does there is judged as sed. */
const EDITORS = /^(?:GIT_SEQUENCE_EDITOR|GIT_EDITOR|EDITOR|VISUAL)$/;

function isStreamEditor(shell: Shell, name: string, value: Field): boolean {
  if (!EDITORS.test(name) || !isKnown(value) || !/^sed\s/.test(value.text)) return false;
  const source = `${value.text} /dev/null`;
  shell.runScript({ ...shell, scope: copyScope(shell.scope), depth: shell.depth + 1 }, parseShell(source), source);
  return true;
}

/** In front of a command. Gives whether allow rules may see past them. */
export function judgeAssignments(shell: Shell, assignments: Assignment[], fields: Field[], text: string): boolean {
  let areSafe = true;
  for (const assignment of assignments) {
    const value = assignedValue(shell, assignment);
    const verdict = isStreamEditor(shell, assignment.name, value)
      ? ask(`${assignment.name} edits by sed what git would show in an editor`, "runs_code")
      : judgeVariable(assignment.name, value, fields[0]?.text ?? "", shell.evaluation.world.root);
    if (verdict.decision !== "allow") {
      areSafe = false;
      addFinding(shell.evaluation, text, verdict);
    }
  }
  return areSafe;
}

/** As `env`, `export` and prefixes set it. */
export function judgeVariable(name: string, value: Field, command: string, root = ""): PolicyVerdict {
  if (name === "IFS" && command === "read" && isKnown(value)) return allow();
  if (isSafe(name, value)) return allow();
  // What takes effect in all that follows is asked like what stands before one command, where it only leads to the project's own tools.
  const isOwn = command !== "" || name === "PATH";
  if (isOwn && root !== "" && isMeant(name, value, root)) return ask(changes(name), "runs_code");
  if (DANGEROUS.test(name) || !/^[A-Za-z_]\w*$/.test(name))
    return command === "" ? askFirm(changes(name), "runs_code") : deny(changes(name), "runs_code");
  return command === "" ? allow() : ask(`it sets ${name}`);
}

/** A loop, `read` and the like put a value there that is not looked at. */
export function judgeName(shell: Shell, f: Field): undefined {
  inspectArithmeticText(shell, f);
  const name = f.text.replace(/\[.*$/s, "");
  if (judgeVariable(name, holeField(), "").decision !== "allow")
    addFinding(shell.evaluation, plainly(f), askFirm(`it sets ${name}`));
}

const changes = (name: string): string => `${name} changes which programs run or what they load`;

/** Standing alone: later commands of the shell see it. */
export function assign(shell: Shell, assignment: Assignment): Field {
  const { name } = assignment;
  const value = assignedValue(shell, assignment);
  const verdict = judgeVariable(name, value, "", shell.evaluation.world.root);
  if (verdict.decision !== "allow") addFinding(shell.evaluation, assignment.text, verdict);
  const { vars } = shell.scope;
  if (assignment.index) for (const key of [name, `${name}[@]`]) vars.set(key, [anything()]);
  else if (assignment.append) vars.set(name, [appended(vars.get(name), value)]);
  else if (assignment.value.type === "Word") vars.set(name, [value]);
  return value;
}

function assignedValue(shell: Shell, { name, value, index }: Assignment): Field {
  if (index) inspectExpression(shell, expandValue(shell, index));
  if (value.type === "Word") {
    const only = expandValue(shell, value);
    return only.text.length > LIMITS.chars ? { ...only, ...hole() } : only;
  }
  const isPlaced = value.elements.some((word) => word.text.startsWith("["));
  const words = expandWords(shell, value.elements);
  const elements = isPlaced ? [anything()] : words;
  shell.scope.vars.set(`${name}[@]`, elements);
  shell.scope.vars.set(name, [elements[0] ?? field("")]);
  return elements[0] ?? field("");
}

function appended(before: Field[] | undefined, value: Field): Field {
  const old = only(before);
  if (!old) return holeField();
  const whole = join([old, value]);
  return { ...value, ...(whole.text.length > 10_000 ? hole() : whole), guessed: value.guessed || old.guessed };
}

/** `name=value` as one word, as `export` receives it. */
export function assignmentParts(f: Field): { name: string; value: Field } {
  const at = f.text.indexOf("=");
  if (at < 0) return { name: f.text, value: { ...f, ...cut(f, 0, 0) } };
  return { name: f.text.slice(0, at).replace(/\+$/, ""), value: { ...f, ...cut(f, at + 1) } };
}
