// What a harness is made of: all that an embedding program, or the command line, may say.
import type { PermissionMode } from "./claude-code/permission-modes.ts";
import type { FileKeeper } from "./contexts/file-keeper.ts";
import type { Contexts } from "./contexts/open.ts";
import type { Store } from "./ledger/store.ts";
import type { Mechanism, Tool } from "./loop/seams.ts";
import type { CatalogueOptions } from "./mechanisms/agents/catalogue.ts";
import type { ApprovalsOptions } from "./mechanisms/approvals/index.ts";
import type { Budget } from "./mechanisms/budget/events.ts";
import type { CronOptions } from "./mechanisms/cron/index.ts";
import type { InProcessHook } from "./mechanisms/hooks/handlers.ts";
import type { HooksOptions } from "./mechanisms/hooks/index.ts";
import type { InstructionsOptions } from "./mechanisms/instructions/index.ts";
import type { SandboxOptions } from "./mechanisms/jobs/sandbox.ts";
import type { McpOptions } from "./mechanisms/mcp/index.ts";
import type { PermissionOptions } from "./mechanisms/permissions/index.ts";
import type { SkillsOptions } from "./mechanisms/skills/index.ts";
import type { SubagentsOptions } from "./mechanisms/subagents/index.ts";
import type { Board } from "./mechanisms/tasks/board.ts";
import type { TeamOptions } from "./mechanisms/team/index.ts";
import type { WorktreesPlace } from "./mechanisms/worktrees/index.ts";
import type { Model } from "./models/model.ts";

export interface HarnessOptions {
  model: Model;
  store: Store;
  /** The tree the agent works in. */
  root: string;
  /** Whether a folder is the project's: asked of roots that stand in a store which other machines reach. Default: any that is there. */
  isOwnFolder?: (folder: string) => boolean;
  /** Where running commands keep their output until it is recorded. */
  jobsDir: string;
  /** Short for `permissions.policy.mode`. */
  permissionMode?: PermissionMode;
  /** Rules, mode and what surrounds them; default: nothing allowed but what the default policy allows. */
  permissions?: Partial<PermissionOptions>;
  /** Commands that run at events, in Claude's format; the embedding program answers for them. */
  hooks?: HooksOptions["hooks"];
  /** The same as functions. */
  inProcessHooks?: InProcessHook[];
  /** More variables for commands and hooks. */
  env?: Record<string, string>;
  /** Who answers when a call needs approval; default: nobody, and it is refused. */
  approvals?: ApprovalsOptions;
  /** Shuts every command in; without it the operating system holds nothing back. */
  sandbox?: SandboxOptions & { bwrap: string };
  maxRounds?: number;
  /** What all agents of a context may spend together; recorded in it. */
  budget?: Budget;
  /** Tells agents the day and the git branch, at their start and when one of them changes. */
  surroundings?: boolean;
  /** Where AGENTS.md, CLAUDE.md and their like are read from; none without it. */
  instructions?: InstructionsOptions;
  /** Remembers for the project, in its store; `dir`: as files too. Nothing is remembered without it. */
  memory?: { dir?: string };
  /** Where skills and commands are read from; none without it. */
  skills?: SkillsOptions;
  /** MCP servers that agents may connect; none without it. */
  mcp?: McpOptions;
  /** Types of agents besides the built-in ones: folders of definitions, or your own. */
  agents?: CatalogueOptions;
  /** Limits of subagents, and where one that wants a tree of its own works. */
  subagents?: Omit<SubagentsOptions, "runner" | "catalogue">;
  /** Opens the model that a definition names; default: by its provider, with keys of the environment. */
  openModel?: (spec: string) => Promise<Model>;
  /** Opened only when the first model stays overloaded. */
  fallbackModels?: (() => Promise<Model>)[];
  /** Added to the system prompt. */
  appendSystemPrompt?: string;
  /** In place of who the agent is told to be. */
  systemPrompt?: string;
  /** Keeps the files of a context's tree at each prompt; default: a checkpoint is a position in the ledger only. */
  files?: (root: string) => Promise<FileKeeper>;
  /** Shared data and checkpoints; default: those of the store. */
  contexts?: () => Promise<Contexts>;
  /** The project's task board; default: that of the store. */
  board?: () => Promise<Board>;
  /** `offer`: the lead may build a team; default: only one that has a team may go on with it. */
  team?: Pick<TeamOptions, "offer" | "mostTeammates">;
  /** Where worktrees are made, and what they share with the project's tree; `offer`: agents may make them. */
  worktrees?: Omit<WorktreesPlace, "root"> & { offer?: boolean };
  /** Clock and zone of schedules; default: the machine's. */
  cron?: CronOptions;
  /** Your own tools, after those of the house. You answer for them: they run unasked, whatever their effect; rules and gates still hold. */
  tools?: Tool[];
  /** Your own mechanisms, after those of the house. Their tools are judged like ours: all but `internal` ones ask, unless `permissions.trustedTools` or a rule allows them. */
  mechanisms?: Mechanism[];
}
