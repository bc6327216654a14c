// The table of names that are never written without a person.
import { entries, find, fold, type Hit, isGlob, once, reaches } from "../file-access/secret-names.ts";

/** A directory (everything below it too) or a file, at any depth of the project. `/` separates components. */
const PROTECTED: [names: string, hit: Hit][] = [
  [".git git~1", { decision: "deny", reason: "git's own files are protected" }],
  [".holdfast .claude", { decision: "deny", reason: "the agent's own settings are protected" }],
  [".mcp.json", { decision: "ask", reason: "settings of agents are protected" }],
  [
    ".vscode .idea .cursor .zed .fleet .devcontainer .cursorrules .windsurf .gemini .codex",
    { decision: "ask", reason: "settings of editors and agents are protected" },
  ],
  [
    ".husky .githooks .lefthook .pre-commit-config.yaml lefthook.yml",
    { decision: "ask", reason: "hooks are protected" },
  ],
  [".gitmodules .gitattributes .gitconfig", { decision: "ask", reason: "git settings are protected" }],
  [
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile .zlogin .profile .kshrc .cshrc .tcshrc .inputrc .envrc .direnvrc .xprofile .xinitrc .xsessionrc .vimrc .exrc .nvimrc .emacs .tmux.conf .screenrc .gdbinit .lldbinit",
    { decision: "ask", reason: "files that shells and programs run at start are protected" },
  ],
  [
    ".npmrc .yarnrc .yarnrc.yml .pnpmrc .pnpmfile.cjs .pypirc .pip pip.conf .gemrc .cargo/config .cargo/config.toml .ssh .gnupg .aws .kube .docker .netrc",
    { decision: "ask", reason: "settings of package managers and keys are protected" },
  ],
  [
    ".github/workflows .gitlab-ci.yml .circleci",
    { decision: "ask", reason: "continuous integration runs it", soft: true },
  ],
];
/** Below a denied directory, but people do ask for these. */
const EXPECTED: [names: string, hit: Hit][] = [
  [
    ".claude/skills .claude/commands .claude/agents .claude/rules .claude/claude.md .holdfast/skills .holdfast/agents",
    { decision: "ask", reason: "it tells the agent what to do" },
  ],
];
/** A command that writes them is asked; the file tools treat them like any file. */
const INSTRUCTIONS =
  "claude.md agents.md claude.local.md gemini.md .cursorrules .clinerules copilot-instructions.md".split(" ");

const protectedEntries = once(() => PROTECTED.flatMap(([names, hit]) => entries(names, hit)));
const expectedEntries = once(() => EXPECTED.flatMap(([names, hit]) => entries(names, hit)));
/** `parts` are the components below the project, folded. */
export function protectedBy(parts: readonly string[]): Hit | undefined {
  const expected = find(expectedEntries(), parts, (part, name) => part === name);
  return (
    expected ?? find(protectedEntries(), parts, (part, name) => (isGlob(part) ? reaches(part, name) : part === name))
  );
}

export const isInstruction = (name: string): boolean => INSTRUCTIONS.includes(fold(name));

/** Words that, in a filter over file names, look for secrets. */
export const looksForSecrets = (text: string): boolean =>
  /\.?env\b|secret|credential|passw|\btoken|\.pem|\.key\b|id_(?:rsa|ed|ec|ds)|netrc|\.ssh|\.aws|history|\.git\b/i.test(
    text,
  );
