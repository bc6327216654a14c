// What a command sees of our environment: a short list of names, never a secret.

const NAMES = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
];
const PREFIXES = ["LC_", "XDG_"];
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;
const FIXED = { TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };

export function commandEnvironment(from: NodeJS.ProcessEnv): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || SECRET.test(name) || !(NAMES.includes(name) || PREFIXES.some((p) => name.startsWith(p))))
      continue;
    env[name] = value;
  }
  return Object.assign(env, FIXED);
}
