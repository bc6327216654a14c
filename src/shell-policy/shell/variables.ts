// The values by which variables that could change what programs do are harmless, or what a user may well mean.
import { own } from "../../ledger/own.ts";
import { aroundHoles, type Field, isKnown } from "./field.ts";

const ON_OR_OFF = /^(?:[01]|true|false)$/;
const EDITS_NOTHING = /^(?:true|:)$/;
const MEMORY = /^(?:-Xm[sx]\d+[kmgKMG]?\s*)+$/;
const COMPILER_FLAGS = /^(?:-(?:O[0-3sg]|W[\w=-]*|g\d?|std=[\w+]+|D\w+(?:=\w+)?)\s*)+$/;

/** None accepts the empty value: that is what `read NAME` is judged by. */
const HARMLESS: Record<string, RegExp> = {
  NODE_OPTIONS:
    /^(?:--(?:max-old-space-size=\d+|experimental-vm-modules|no-warnings|no-deprecation|trace-warnings|enable-source-maps|experimental-strip-types|stack-trace-limit=\d+)\s*)+$/,
  PYTHONHASHSEED: /^(?:\d+|random)$/,
  PYTHONFAULTHANDLER: /^1$/,
  PYTHONUTF8: /^[01]$/,
  PYTHONWARNINGS: /^(?:ignore|default|error|always|once)$/,
  CGO_ENABLED: ON_OR_OFF,
  GOFLAGS: /^-(?:mod=(?:mod|vendor|readonly)|count=\d+|race|v)$/,
  RUSTFLAGS: /^(?:-[DAW] ?[a-z_:]+\s*)+$/,
  CARGO_TERM_COLOR: /^\w+$/,
  CARGO_INCREMENTAL: ON_OR_OFF,
  CARGO_NET_OFFLINE: ON_OR_OFF,
  CC: /^(?:gcc|clang|cc)$/,
  CXX: /^(?:g|clang|c)\+\+$/,
  CFLAGS: COMPILER_FLAGS,
  MAKEFLAGS: /^-j ?\d+$/,
  GRADLE_OPTS: MEMORY,
  MAVEN_OPTS: MEMORY,
  JAVA_OPTS: MEMORY,
  DOCKER_BUILDKIT: ON_OR_OFF,
  DOTNET_CLI_TELEMETRY_OPTOUT: ON_OR_OFF,
  DOTNET_NOLOGO: ON_OR_OFF,
  npm_config_loglevel: /^\w+$/,
  npm_config_fund: ON_OR_OFF,
  npm_config_audit: ON_OR_OFF,
  NPM_CONFIG_LOGLEVEL: /^\w+$/,
  NPM_CONFIG_FUND: ON_OR_OFF,
  NPM_CONFIG_AUDIT: ON_OR_OFF,
  YARN_ENABLE_IMMUTABLE_INSTALLS: ON_OR_OFF,
  DATABASE_URL: /^(?:sqlite:\S*|\w+:\/\/(?:[^@/\s]*@)?(?:localhost|127\.0\.0\.1)(?:[:/]\S*)?)$/,
  GIT_EDITOR: EDITS_NOTHING,
  GIT_SEQUENCE_EDITOR: EDITS_NOTHING,
  EDITOR: EDITS_NOTHING,
};

export const isHarmlessValue = (name: string, value: Field): boolean =>
  (isKnown(value) && own(HARMLESS, name)?.test(value.text)) ?? false;

/** Who made a commit and when, which account: asked, whatever the value. */
const IDENTITY = /^(?:GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|AWS_(?:PROFILE|REGION|DEFAULT_REGION))$/;
/** Where code or settings lie: asked if that is in the project. */
const PLACES = /^(?:PYTHONPATH|NODE_PATH|BUNDLE_GEMFILE|KUBECONFIG|TMPDIR|XDG_CACHE_HOME)$/;
const OWN_TOOLS = /^(?:\.\/)?(?:node_modules\/\.bin|\.?venv\/bin):$/;

/** What stands in front of a command that a person may well want so; everything else of its kind is refused. */
export function isMeant(name: string, value: Field, root: string): boolean {
  if (IDENTITY.test(name)) return true;
  const isInside = (path: string): boolean =>
    !path.split("/").includes("..") && (path === root || path.startsWith(`${root}/`) || /^[^/~]/.test(path));
  if (PLACES.test(name)) return isKnown(value) && value.text !== "" && value.text.split(":").every(isInside);
  if (name !== "PATH" || value.holes.length !== 1) return false;
  return aroundHoles(value, "unknown").some(
    ([before, after]) => after === "" && OWN_TOOLS.test(before.replace(`${root}/`, "")),
  );
}
