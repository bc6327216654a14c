// The command lines of services: what they print, send and destroy elsewhere.
import { only } from "../../ledger/only.ts";
import { own } from "../../ledger/own.ts";
import { askExact, askNetwork, deny } from "../finding.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { NETWORK } from "./network.ts";
import { isHelp, isVersion } from "./version.ts";

export const CLOUD: Commands = {
  gh,
  glab: gh,
  hub: gh,
  aws: cloud,
  gcloud: cloud,
  gsutil: cloud,
  az: cloud,
  doctl: cloud,
  heroku: cloud,
  fly: cloud,
  flyctl: cloud,
  vercel: cloud,
  netlify: cloud,
  wrangler: cloud,
  firebase: cloud,
  kubectl: cloud,
  oc: cloud,
  helm: cloud,
  terraform: cloud,
  tofu: cloud,
  pulumi: cloud,
  ansible: cloud,
  "ansible-playbook": cloud,
  vault: cloud,
  redis_cli: cloud,
  "redis-cli": cloud,
  psql: cloud,
  mysql: cloud,
  mongosh: cloud,
  mongo: cloud,
  dropdb: cloud,
  createdb: cloud,
  pg_dump: cloud,
  mysqldump: cloud,
};

/** What a rule for all of gh does not mean: who may do what, what runs there, what is public. */
const RARE: Record<string, RegExp> = {
  repo: /^(?:archive|unarchive|edit|rename|sync|deploy-key|delete|create)$/,
  workflow: /^(?:run|enable|disable)$/,
  variable: /^(?:set|delete)$/,
  auth: /^(?:login|logout|refresh|setup-git|switch)$/,
  config: /^(?:set|clear-cache)$/,
  codespace: /./,
  cs: /./,
  cache: /^delete$/,
  project: /^(?:delete|close|edit)$/,
};

function gh(call: CommandCall): CommandOutput {
  if (isVersion(call) || isHelp(call)) return { kind: "unknown" };
  const words: string[] = call.args.filter((f) => !f.text.startsWith("-")).map((f) => f.text);
  const [area = "", verb = ""] = words;
  const has = (...flags: string[]) => call.args.some((f) => flags.includes(f.text));
  const isTo = (methods: string) => call.args.some((f, i) => isMethod(f.text, call.args[i - 1]?.text ?? "", methods));
  if (area === "auth" && (verb === "token" || has("--show-token", "-t"))) call.say(deny("it prints a token", "secret"));
  else if (area === "repo" && verb === "delete") call.say(deny("it deletes a repository", "changes"));
  else if (/^(?:secret|ssh-key|gpg-key|alias)$/.test(area) || (area === "extension" && verb !== "list"))
    call.say(deny("it changes secrets, keys or what gh runs", "secret"));
  else if (area === "gist" && verb === "create") call.say(deny("it publishes files"));
  else if (area === "api" && isTo("DELETE")) call.say(deny("it deletes what is stored elsewhere", "changes"));
  else {
    // `gh repo clone o/r -- -c x=y` hands flags to git; `--jq env` prints the token.
    if (verb === "clone" && has("--")) call.say(askExact("gh hands flags on to git", "runs_code"));
    if (call.args.some((f, i) => isFilter(f.text, call.args[i - 1]?.text ?? "") && /\benv\b|\$ENV/.test(f.text)))
      call.say(askExact("the filter prints the environment", "secret"));
    const isRare = own(RARE, area)?.test(verb) || (area === "api" && isTo("PUT|PATCH"));
    call.say({ ...askNetwork("it reaches another machine"), lift: isRare ? "exact" : "any" });
  }
  return NETWORK;
}

const isFilter = (word: string, before: string): boolean =>
  /^(?:--jq|-q|--template|-t)(?:=|$)/.test(before) || /^(?:--jq=|-q|--template=)/.test(word);

/** `-X DELETE`, `-XDELETE`, `--method=delete`. */
const isMethod = (word: string, before: string, methods: string): boolean =>
  new RegExp(`^(?:-X|--method=)(?:${methods})$`, "i").test(word) ||
  (/^(?:-X|--method)$/.test(before) && new RegExp(`^(?:${methods})$`, "i").test(word));

const DESTROYS =
  /^(?:delete|destroy|terminate-instances|delete-.*|rb|rm|drain|uninstall|purge|remove|flushall|flushdb|drop|shutdown|apps:destroy|pg:reset|down|apply|exec|cp|attach|port-forward|proxy|run|sync|mb|ssh|edit|patch|replace|scale|rollout|cordon|taint|state|import|set|secrets?|read|token|config|config:get|env|env:.*|console|assume-role.*|login|--as|--as-group|--as-uid|--token)(?:=.*)?$/i;
const DESTROYS_FOR_SURE =
  /^(?:delete|destroy|terminate-instances|delete-.*|rb|drain|uninstall|purge|flushall|flushdb|shutdown|apps:destroy|pg:reset|secrets?|secretsmanager|get-secret-value|export-credentials|config-helper|(?:print|get|create|generate)-(?:access-|identity-|session-|federation-|db-auth-|oidc-)?(?:token|credentials|password|login-password|access-key|password-data)|decrypt|--with-decryption)$/i;
/** Statements that destroy, and words by which a database serves files or runs programs. */
const STATEMENTS =
  /\b(?:drop\s+(?:table|database|schema)|truncate\s+table|delete\s+from|dropDatabase|flushall|config\s+set|module\s+load|(?:replica|slave)of|pg_read_(?:binary_)?file|pg_ls_dir|lo_(?:import|export)|load_file|into\s+(?:out|dump)file)\b/i;

/** By psql's and mysql's own commands: a shell, a pipe, another file of commands, a program that shows. */
const RUNS_COMMAND =
  /\\!|copy\b.*\bprogram\b|\bsystem\s+\w|\\(?:g|gx|o|w|out)\s*\||\\(?:i|ir|include|P|\.|T)(?:\s|$)|(?:^|[;\s])(?:pager|source|tee|system)\s+\S/i;

/** `get po,secret/db`, `--raw …/secrets`: any piece of a word that names them. */
const asksForSecrets = (words: readonly string[]): boolean =>
  words.some(
    (w) =>
      !/^--?(?:n|namespace|l|selector|context)\b/.test(w) &&
      w.split(/[,/=]/).some((piece) => /^secrets?(?:\.|$)/i.test(piece)),
  );

function cloud(call: CommandCall): CommandOutput {
  const words: string[] = call.args.map((f) => f.text);
  const { stdin } = call.shell;
  const line = [...words, ...(stdin.kind === "text" ? [stdin.text] : [])].join(" ");
  if (/^(?:--version|version|--help|help)$/.test(only(words) ?? "")) return { kind: "unknown" };
  if (call.name === "kubectl" && line === "version --client") return { kind: "unknown" };
  if (isHelp(call) && /^(?:kubectl|helm|terraform)$/.test(call.name)) return { kind: "unknown" };
  const isKubernetes = call.name === "kubectl" || call.name === "oc";
  if (
    words.some((w) => DESTROYS_FOR_SURE.test(w)) ||
    STATEMENTS.test(line) ||
    call.name === "dropdb" ||
    (isKubernetes &&
      (asksForSecrets(words) || (words.includes("view") && words.some((w) => /^--(?:raw|flatten)/.test(w)))))
  ) {
    call.say(deny(`${call.name} would destroy what runs elsewhere, or print secrets`, "secret"));
  } else if (RUNS_COMMAND.test(line)) call.say(deny(`${call.name} would run a command`, "runs_code"));
  else if (
    call.name === "vault" ||
    (words.includes("configure") && words.includes("get")) ||
    words.includes("-destroy")
  ) {
    call.say(deny(`${call.name} would print secrets or destroy what runs elsewhere`, "secret"));
  } else if (call.name === "helm" && words.some((w) => /^(?:https?|oci):\/\//.test(w)))
    call.say(askExact("it installs what another machine sends", "network"));
  else if (words.includes("rm") && words.some((w) => w === "--recursive" || w === "-r"))
    call.say(deny(`${call.name} would destroy what is stored elsewhere`));
  else
    call.say({
      ...askNetwork(`${call.name} reaches another machine`),
      lift:
        words.some((w, i) => DESTROYS.test(w) && !/^(?:status|history)$/.test(words[i + 1] ?? "")) ||
        printsOutputs(call.name, words)
          ? "exact"
          : "any",
    });
  return NETWORK;
}

/** `terraform output -raw x` prints what is otherwise hidden. */
const printsOutputs = (name: string, words: readonly string[]): boolean =>
  /^(?:terraform|tofu|pulumi)$/.test(name) &&
  words.some((w) => /^(?:output|show|stack|config)$/.test(w)) &&
  words.some((w) => /^--?(?:raw|json|show-secrets)(?:=|$)/.test(w));
