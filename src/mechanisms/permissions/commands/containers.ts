// Owns containers, and other agents: both run whatever they are told, elsewhere.
import { ask, askNetwork, deny } from "../finding.ts";
import { beginsWithHole, cut, fieldOf, isKnown, join, match } from "../shell/field.ts";
import type { Output } from "../shell/shell.ts";
import type { Call, Commands } from "./call.ts";
import { lookupNames } from "./names.ts";
import { isElsewhere, reachesOut } from "./packages.ts";
import { isHelp, isVersion } from "./version.ts";

export const CONTAINERS: Commands = {
  ...lookupNames("claude holdfast codex gemini opencode aider goose cursor cursor-agent", agent),
  ...lookupNames("docker podman nerdctl docker-compose ctr", container),
};

function agent(call: Call): Output | undefined {
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
function isForPeople({ args }: Call): boolean {
  const words: string[] = args.map((f) => String(f.text));
  if (words.some((word) => /^(?:approve|deny|(?:--)?trust)$/.test(word))) return true;
  if (
    (words.includes("workflow") && words.includes("input")) ||
    (words.includes("project") && words.some((word) => word === "adopt" || word === "forget")) ||
    (words.includes("contexts") && words.includes("import"))
  )
    return true;
  const isPrompt = words.some((word) => /^(?:-p|--print)$/.test(word));
  const plain = args.filter((f) => !f.text.startsWith("-"));
  const verbs = plain.filter((_, i) => i === 0 || /^(?:workflow|project|contexts)$/.test(plain[i - 1]!.text));
  return !isPrompt && verbs.some((f) => !isKnown(f));
}

/** They list. A flag before them may choose another daemon or another configuration, which runs plugins. */
const CONTAINER_READS =
  /^(?:ps|images|version|info|(?:image|container|volume|network|context) ls|compose (?:ps|ls|images|version))(?: |$)/;
const LISTING_FLAGS =
  /^(?:-[aqlsn]+|-f|--(?:all|quiet|latest|last|size|filter|format|no-trunc|digests|services)(?:=.*)?)$/;

function container(call: Call): Output | undefined {
  if (isVersion(call)) return undefined;
  const line = join(call.args, " ");
  const { text } = line;
  const sub = call.args.find((f) => !f.text.startsWith("-"))?.text ?? "";
  reachesOut(call);
  if (
    /docker\.sock|containerd\.sock|podman\.sock|--privileged|--pid[= ]host|--net(?:work)?[= ]host|--ipc[= ]host|--uts[= ]host|--userns[= ]host|--cap-add|--device\b|--security-opt|-H\b|--host\b|--volumes-from/.test(
      text,
    )
  ) {
    call.say(deny("the container would have the rights of this machine", "runs_code"));
  }
  for (const m of text.matchAll(/(?:^|\s)(?:-v|--volume|--mount)[= ]?(\S+)/dg)) {
    const mount = cut(line, ...m.indices![1]!);
    const from = match(mount, /(?:source|src)=([^,]+)/d)?.[1] ?? match(mount, /^[^:]*/d)![0]!;
    if (isElsewhere(from.text) || beginsWithHole(from, "unknown")) call.write(fieldOf(from));
  }
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
