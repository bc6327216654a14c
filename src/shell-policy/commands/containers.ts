// Containers, and other agents: both run whatever they are told, elsewhere.
import { resolve } from "node:path";
import { ask, askExact, askNetwork, deny } from "../finding.ts";
import { beginsWithHole, cut, type Field, fieldOf, isKnown, join, match } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { isElsewhere } from "./packages.ts";
import { lookupNames } from "./same-judge.ts";
import { isHelp, isVersion } from "./version.ts";

export const CONTAINERS: Commands = {
  ...lookupNames("claude holdfast codex gemini opencode aider goose cursor cursor-agent", agent),
  ...lookupNames("docker podman nerdctl docker-compose ctr", container),
};

function agent(call: CommandCall): CommandOutput | undefined {
  if (isVersion(call)) return { kind: "plain" };
  if (call.name === "holdfast" && isForPeople(call)) {
    call.say(deny("that is for a person to do", "protected"));
    return undefined;
  }
  const isFree = call.args.some((f) =>
    /bypass|dangerously|yolo|full-auto|--allowedTools|skip-permissions|--auto/i.test(f.text),
  );
  call.say(
    isFree ? deny("it starts an agent without limits", "runs_code") : ask("it starts another agent", "runs_code"),
  );
  return undefined;
}

/** Answers, and what widens what may be reached; also where only the run would tell that it is that. */
function isForPeople({ args }: CommandCall): boolean {
  const words: string[] = args.map((f) => String(f.text));
  if (words.some((word) => /^(?:approve|deny|(?:--)?trust)$/.test(word))) return true;
  if (
    (words.includes("workflow") && words.includes("input")) ||
    (words.includes("project") && words.some((word) => word === "adopt" || word === "forget")) ||
    (words.includes("contexts") && words.includes("import")) ||
    (words.includes("team") && words.includes("send")) // it would be said as the user
  )
    return true;
  const isPrompt = words.some((word) => /^(?:-p|--print)$/.test(word));
  const plain = args.filter((f) => !f.text.startsWith("-"));
  const verbs = plain.filter((_, i) => i === 0 || /^(?:workflow|project|contexts)$/.test(plain[i - 1]?.text ?? ""));
  return !isPrompt && verbs.some((f) => !isKnown(f));
}

/** They list. A flag before them may choose another daemon or another configuration, which runs plugins. */
const CONTAINER_READS =
  /^(?:ps|images|version|info|(?:image|container|volume|network|context) ls|compose (?:ps|ls|images|version))(?: |$)/;
const LISTING_FLAGS =
  /^(?:-[aqlsn]+|-f|--(?:all|quiet|latest|last|size|filter|format|no-trunc|digests|services)(?:=.*)?)$/;

function container(call: CommandCall): CommandOutput | undefined {
  if (isVersion(call)) return undefined;
  const line = join(call.args, " ");
  const { text } = line;
  const first = call.args.findIndex(
    (f, i) =>
      !f.text.startsWith("-") && !/^(?:--config|-c|--context|-l|--log-level)$/.test(call.args[i - 1]?.text ?? ""),
  );
  const sub = call.args[first]?.text ?? "";
  if (
    /docker\.sock|containerd\.sock|podman\.sock|--privileged|--pid[= ]host|--net(?:work)?[= ]host|--ipc[= ]host|--uts[= ]host|--userns[= ]host|--cap-add|--device\b|--security-opt|-H\b|--host\b|--volumes-from/.test(
      text,
    )
  ) {
    call.say(deny("the container would have the rights of this machine", "runs_code"));
  }
  if (call.args.slice(0, Math.max(0, first)).some((f) => /^--config(?:=|$)/.test(f.text)))
    call.say(askExact("docker would take its settings, and the programs they name, from there", "runs_code"));
  judgeMounts(call);
  if (call.args.some((f, i) => isSecretVariable(f.text, call.args[i - 1]?.text ?? "")))
    call.say(askExact("it hands a secret of the environment to the container", "secret"));
  if (sub === "compose" && call.args.some((f) => /^(?:-f|--file=)?(?:https?|oci|git|ssh):\/\//.test(f.text)))
    call.say(askExact("it runs what another machine describes", "network"));
  if (sub === "build" && call.args.slice(first + 1).some((f) => /^(?:\w+:\/\/|git@|github\.com\/)/.test(f.text)))
    call.say(askExact("it builds what another machine sends", "network"));
  if (sub === "cp") judgeCopy(call, call.args.slice(first + 1));
  for (const f of within(call, first)) call.rest.judged.add(f);
  if (/^(?:system|volume|network|image|container|builder)$/.test(sub) && /\bprune\b|\brm\b/.test(text))
    call.say(deny("it deletes containers, images or volumes"));
  const isPlain = call.args.every((f) => !f.text.startsWith("-") || LISTING_FLAGS.test(f.text));
  if ((CONTAINER_READS.test(text) && isPlain) || isHelp(call)) return undefined;
  call.say(
    /^(?:pull|push|login|run|build|compose|create)$/.test(sub)
      ? askNetwork("it runs or fetches containers")
      : ask("it changes containers"),
  );
  return undefined;
}

/** `-e AWS_SECRET_ACCESS_KEY`, `--env=GH_TOKEN`: the value is the one that this machine has. */
const isSecretVariable = (word: string, before: string): boolean => {
  const name = /^(?:-[ditPqT]*e|--env)$/.test(before) ? word : (/^(?:-[ditPqT]*e|--env=)(\w+)$/.exec(word)?.[1] ?? "");
  return /^\w*(?:SECRET|TOKEN|PASSW|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY)\w*$/i.test(name);
};

/** Of `-v HERE:THERE` only the first is a place of this machine. */
function judgeMounts(call: CommandCall): undefined {
  for (const [i, arg] of call.args.entries()) {
    const inline = match(arg, /^(?:-[ditPqT]*v|--volume|--mount)=?(.*)$/ds)?.[1];
    if (!inline) continue;
    const given = inline.text === "" ? call.args[i + 1] : fieldOf(inline);
    if (!given) continue;
    for (const f of [arg, given]) call.rest.judged.add(f);
    const from = match(given, /(?:source|src)=([^,]+)/d)?.[1] ?? cut(given, 0, given.text.search(/:|$/));
    if (isElsewhere(from.text) || /^[.~/]/.test(from.text) || beginsWithHole(from, "unknown")) {
      const place = { ...given, ...from };
      if (isRootOfProject(call, place.text)) call.read(place);
      else call.write(place);
    }
  }
}

/** The project itself is what most containers work on; it is asked with the container. */
const isRootOfProject = ({ shell: { evaluation, scope } }: CommandCall, path: string): boolean =>
  [path, ...(scope.cwds ?? []).map((cwd) => resolve(cwd, path))].some((at) => evaluation.roots.includes(at));

/** `name:/path` lies in the container. */
function judgeCopy(call: CommandCall, args: Field[]): undefined {
  const [from, to] = args.filter((f) => !f.text.startsWith("-"));
  const isThere = (f: Field) => /^[\w.-]+:/.test(f.text);
  for (const f of [from, to]) if (f && isThere(f)) call.rest.judged.add(f);
  if (from && !isThere(from)) call.read(from);
  if (to && !isThere(to)) call.write(to);
}

/** Flags of `run` and `exec` without a value; all others take one. */
const ALONE =
  /^-(?:[ditPqT]+|-(?:rm|init|privileged|read-only|detach|interactive|tty|publish-all|no-healthcheck|oom-kill-disable|quiet|no-deps|service-ports|build|use-aliases|no-TTY|remove-orphans)|-.+=.*)$/;

/** What is said to the program in the container: the image or the container, and all words after it. */
function within(call: CommandCall, first: number): Field[] {
  const isCompose = call.args[first]?.text === "compose";
  const at = isCompose ? call.args.findIndex((f, i) => i > first && /^(?:run|exec)$/.test(f.text)) : first;
  if (at < 0 || !/^(?:run|exec|create)$/.test(call.args[at]?.text ?? "")) return [];
  for (let i = at + 1; ; i++) {
    const text: string | undefined = call.args[i]?.text;
    if (text === undefined) return [];
    if (!text.startsWith("-")) return call.args.slice(i);
    if (!ALONE.test(text) && !/^-[a-zA-Z]+[^a-zA-Z]/.test(text)) i++;
  }
}
