// Which places are protected, hidden, or shown in the sandbox. What is a secret by its name stands in file-access/secret-names.ts.

/** In the project's root, whatever is there: read-only; what is not there must not come to be. */
export const PROTECTED = [
  ".git",
  "HEAD", // with it the root could be made a repository without a tree
  ".gitmodules",
  ".claude",
  ".holdfast",
  ".mcp.json",
  ".vscode",
  ".idea",
  ".cursor",
  ".husky",
  ".envrc",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
];
/** In `.git`, when the command is one that works with git: what would run code later, or lead git elsewhere. */
export const GIT_PROTECTED = [
  "config",
  "config.worktree",
  "hooks",
  "info",
  "modules",
  "commondir",
  "remotes",
  "branches",
  "objects/info/alternates",
  "objects/info/http-alternates",
];
/** In a repository or in what it keeps of a worktree: what is left of work that stopped in the middle, and gone on with later. */
export const GIT_UNFINISHED = [
  "rebase-merge",
  "rebase-apply",
  "sequencer",
  "BISECT_START",
  "BISECT_LOG",
  "BISECT_NAMES",
  "BISECT_TERMS",
  "BISECT_RUN",
  "BISECT_HEAD",
  "BISECT_EXPECTED_REV",
  "BISECT_ANCESTORS_OK",
  "BISECT_FIRST_PARENT",
];
/** Of the home, besides the project: where tools are installed, and of those folders only what it takes to run them. */
export const TOOLS: [folder: string, shown?: string][] = [
  [".nvm", "nvm.sh nvm-exec bash_completion alias versions"],
  [".fnm", "fnm aliases node-versions"],
  [".volta", "bin tools layout.v3 layout.v4"],
  [".asdf", "asdf.sh bin lib libexec shims installs plugins completions internal defaults help.txt version.txt"],
  [".pyenv", "bin libexec shims versions version plugins pyenv.d completions"],
  [".rbenv", "bin libexec shims versions version plugins rbenv.d completions"],
  [".sdkman", "bin src libexec candidates etc var"],
  [".deno", "bin"],
  [".bun", "bin install"],
  [".rustup", "toolchains settings.toml"],
  [".cargo", "bin env registry"],
  [".local", "bin lib pipx"],
  [".local/share/pnpm"],
  [".local/share/uv", "python tools"],
  [".local/share/mise", "installs shims plugins"],
  [".local/share/fnm", "fnm aliases node-versions"],
  [".local/share/pipx", "venvs shared"],
  [".local/share/virtualenvs"],
  ["go", "bin pkg"],
  [".m2", "repository"],
  [".gradle", "wrapper"],
  [".config/git", "ignore attributes"],
  ["miniconda3"],
  ["anaconda3"],
  [".linuxbrew", "bin sbin lib libexec opt Cellar share include etc"],
];
/**
 * Of the context's own home, what a command with the network or `.git` sees too. Read by package managers, build tools and test runners alone,
 * which run what the project says anyway; nothing that git, curl, ssh, docker or a shell takes settings, plug-ins or programs from.
 */
export const CACHES = [
  ".npm/_cacache",
  ".npm/_npx",
  ".cache/node",
  ".cache/yarn",
  ".yarn/berry/cache",
  ".cache/pnpm",
  ".local/share/pnpm/store",
  ".bun/install/cache",
  ".cache/deno",
  ".cache/pip",
  ".cache/uv",
  ".cache/pypoetry",
  ".cargo/registry",
  ".cargo/git",
  ".cache/go-build",
  "go/pkg/mod/cache/download",
  ".m2/repository",
  ".gradle/caches",
  ".nuget/packages",
  ".cache/composer",
  ".cache/ms-playwright",
  ".cache/puppeteer",
  ".cache/Cypress",
];
/** Shown without what they hold of credentials. */
export const GIT_CONFIGS = [".gitconfig", ".config/git/config"];
/** Of the home, when the project is the home or holds it: besides the names of secrets. */
export const PRIVATE = [".config", ".local/state", ".claude", ".codex", ".gemini"];
/** Below tools: what was installed, thousands of files, none of them a person's. */
export const PACKAGES = new Set(
  "node_modules site-packages dist-packages lib lib64 include share man doc docs src pkgs registry mod repository store toolchains Cellar test tests".split(
    " ",
  ),
);
