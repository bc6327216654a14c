// Owns which places are protected, hidden, or shown in the sandbox.

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
/** In `.git`, when the command is one that works with git: what would run code later. */
export const GIT_PROTECTED = ["config", "config.worktree", "hooks", "info", "modules", "commondir"];
/** Of the home, besides the project: where tools are installed. No secrets, no caches. */
export const TOOLS = [
  ".nvm",
  ".fnm",
  ".volta",
  ".asdf",
  ".pyenv",
  ".rbenv",
  ".sdkman",
  ".deno",
  ".bun",
  ".rustup",
  ".cargo/bin",
  ".cargo/registry",
  ".local/bin",
  ".local/lib",
  ".local/share/pnpm",
  ".local/share/uv",
  ".local/share/mise",
  ".local/share/fnm",
  ".local/share/virtualenvs",
  ".local/pipx",
  "go/bin",
  "go/pkg",
  ".m2/repository",
  ".gradle/wrapper",
  ".gitconfig",
  ".config/git",
  "miniconda3",
  "anaconda3",
  ".linuxbrew",
];
/** Of the home, when the project is the home or holds it. */
export const SECRETS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".netrc",
  ".git-credentials",
  ".pypirc",
  ".npmrc",
  ".config",
  ".local/share/keyrings",
  ".local/state",
  ".password-store",
  ".mozilla",
  ".claude",
  ".codex",
  ".gemini",
  ".bash_history",
  ".zsh_history",
  ".node_repl_history",
  ".python_history",
];
/** Readable by root only: matters when we run as root. */
export const SYSTEM_SECRETS = [
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/shadow-",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
];
