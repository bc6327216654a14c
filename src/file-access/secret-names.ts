// The names whose content is a secret: never read without a person. Pure.
import { relative } from "node:path";
import { matchesComponent } from "../text/glob.ts";

export interface Hit {
  decision: "ask" | "deny";
  reason: string;
  /** Whether a mode may still answer it. */
  soft?: boolean;
}

/** Names whose content is a secret, as patterns, each with names to try a glob of the command against. */
const SECRETS: [patterns: string, samples: string, hit: Hit, kind?: "file"][] = [
  [
    ".env .env.* .envrc *.env",
    ".env .env.local .env.production .envrc prod.env",
    { decision: "ask", reason: "it may hold secrets" },
    "file",
  ],
  [
    "id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk *.pem *.p12 *.pfx *.kdbx *.jks *.keystore *.key *.ppk *.asc",
    "id_rsa id_dsa id_ecdsa id_ed25519 server.pem server.key cert.p12 cert.pfx",
    { decision: "ask", reason: "private keys are not read" },
    "file",
  ],
  [
    ".ssh .gnupg .aws .azure .kube .password-store .netrc _netrc .pgpass .my.cnf .git-credentials .pypirc .docker .vault-token .boto .s3cfg .config/gh .config/gcloud .config/hub .config/rclone .config/op .terraform.d .terraformrc credentials.tfrc.json .cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json .config/doctl .config/flyctl .fly .netlify .databrickscfg .snowsql .config/holdfast .claude/.credentials.json .config/github-copilot .config/configstore .npm/_logs .cloudflared .wrangler .config/git/credentials uv/credentials etc/npmrc .deno/deployctl .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties",
    ".ssh .gnupg .aws .azure .kube .netrc .pgpass .git-credentials .docker",
    { decision: "deny", reason: "credentials are not read" },
  ],
  [
    "credentials credentials.json credentials.toml pip.conf .condarc service-account*.json serviceaccount*.json secrets.json secrets.yml secrets.yaml secrets.toml .npmrc .yarnrc.yml token token.txt tokens.json .secrets .secret *.secret auth.json *.tfstate *.tfvars",
    "credentials .npmrc .secrets",
    { decision: "ask", reason: "it may hold secrets" },
    "file",
  ],
  [
    ".bash_history .zsh_history .sh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .lesshst .viminfo .histfile fish_history",
    ".bash_history .zsh_history .python_history .psql_history",
    { decision: "deny", reason: "histories hold secrets" },
  ],
  [
    ".mozilla .config/google-chrome .config/chromium .config/bravesoftware .config/microsoft-edge library/keychains library/cookies .thunderbird .local/share/keyrings .config/slack .config/discord .config/signal",
    ".mozilla .thunderbird",
    { decision: "deny", reason: "profiles of browsers and key rings are not read" },
  ],
];
export const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make());
};
const NOT_SECRET =
  ".env.example .env.sample .env.template .env.dist .env.defaults .env.test.example example.env sample.env".split(" ");
/** Where the system keeps secrets: files and folders, each also as the beginning of a longer name. What root may read, root's commands may not. */
export const SYSTEM_SECRETS = [
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/sudoers",
  "/etc/security/opasswd",
  "/etc/ssl/private",
  "/etc/pki/tls/private",
  "/etc/letsencrypt",
  "/etc/ssh/ssh_host_",
  "/etc/krb5.keytab",
  "/etc/wireguard",
  "/etc/openvpn",
  "/etc/ipsec.secrets",
  "/etc/ppp/chap-secrets",
  "/etc/ppp/pap-secrets",
  "/etc/NetworkManager/system-connections",
  "/etc/kubernetes",
  "/etc/rancher",
  "/etc/docker/key.json",
  "/var/lib/docker",
  "/var/lib/kubelet",
  "/var/lib/rancher",
  "/var/spool/cron",
  "/run/secrets",
  "/var/run/secrets",
];
/** The same as they are folded, and what only the kernel shows. */
const systemSecrets = once(() => SYSTEM_SECRETS.map((path) => path.toLowerCase()));
const KERNEL_SECRETS =
  /^\/(?:run\/user\/\d+\/(?:keyring|gnupg)|proc\/[^/]+\/(?:environ|mem|maps|cmdline|fd|root|cwd|auxv|stack|task)|proc\/(?:kcore|keys|kmsg)|dev\/(?:mem|kmem|port))/;

interface Entry {
  path: string[];
  hit: Hit;
  /** Only as the last component. */
  isFile: boolean;
}
export const entries = (names: string, hit: Hit, kind?: "file"): Entry[] =>
  names.split(" ").map((name) => ({ path: name.split("/"), hit, isFile: kind === "file" }));
const secretEntries = once(() => SECRETS.flatMap(([patterns, , hit, kind]) => entries(patterns, hit, kind)));
const secretSamples = once(() => SECRETS.flatMap(([, samples, hit, kind]) => entries(samples, hit, kind)));

/** As file systems that fold see it: case, trailing dots and spaces, invisible characters, streams of NTFS. */
export function fold(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/(?::\$[a-z_]+|::.*)$/, "")
    .replace(/(?!^)[. ]+$/, "");
}

export const isGlob = (part: string): boolean => /[*?[]/.test(part);

/** A glob does not reach hidden names by `*`; a wide one is not taken for each name it could reach. */
export function reaches(part: string, name: string): boolean {
  if (!isGlob(part)) return part === name;
  if (name.startsWith(".") ? !/^[.[]/.test(part) : part.replace(/[*?[\]!^-]/g, "").length < 3) return false;
  return matchesComponent(part, name);
}

/** `path` is folded, and absolute or below the project. */
export function secretBy(path: string): Hit | undefined {
  if (KERNEL_SECRETS.test(path) || systemSecrets().some((place) => path.startsWith(place)))
    return { decision: "deny", reason: "the system keeps secrets there" };
  const parts = path.split("/").filter((p) => p !== "");
  const originals = parts.map(originalOf);
  if (NOT_SECRET.includes(originals.at(-1) ?? "")) return undefined;
  const globbed = parts.some(isGlob) ? find(secretSamples(), parts, reaches) : undefined;
  if (globbed) return globbed;
  const found = find(secretEntries(), parts, matchesPattern);
  if (found?.decision === "deny" || originals.every((name, i) => name === parts[i])) return found;
  return find(secretEntries(), originals, matchesPattern) ?? found;
}

/** A copy that was put aside holds what the file holds that it is a copy of: `id_rsa.bak` a key, `.env.example.bak` nothing. */
const originalOf = (name: string): string =>
  isGlob(name) ? name : name.replace(/(?!^)(?:~|\.(?:bak|backup|old|orig|save|copy))+$/, "");

/** Most patterns are plain names. */
function matchesPattern(part: string, pattern: string): boolean {
  if (part === pattern) return true;
  return pattern.includes("*") && !isGlob(part) && matchesComponent(pattern, part);
}

/** Those that are names and no patterns, relative to a home. */
export const plainSecrets = once(() =>
  secretEntries()
    .map(({ path }) => path.join("/"))
    .filter((path) => !isGlob(path)),
);

/** Contract: `names` are the real components below what was opened for the call. */
export const isSecret = (names: readonly string[]): boolean => secretBy(`/${names.map(fold).join("/")}`) !== undefined;

type Same = (part: string, name: string) => boolean;

/** The strictest entry that names some of the components. */
export function find(table: Entry[], parts: readonly string[], same: Same): Hit | undefined {
  let found: Hit | undefined;
  for (let at = 0; ; at++) {
    const part = parts[at];
    if (part === undefined) return found;
    for (const { path, hit, isFile } of table) {
      if (isFile && at + 1 < parts.length) continue;
      if (found?.decision === "deny" || (found && hit.decision === "ask")) continue;
      if (same(part, path[0]!) && path.every((name, i) => isPart(parts[at + i], name, same))) found = hit;
    }
  }
}

const isPart = (part: string | undefined, name: string, same: Same): boolean => part !== undefined && same(part, name);

/** By its names below the root: where the project itself lies says nothing. */
export const isSecretIn = (root: string, real: string): boolean => isSecret(relative(root, real).split("/"));
