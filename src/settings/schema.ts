// The schema of a settings file and its JSON Schema. Loaded only when there is a file to check.
import * as z from "zod";
import { HOOK_EVENTS, type HookEvent, ruleOf } from "../claude-code/hook-events.ts";
import { PERMISSION_MODES } from "../claude-code/permission-modes.ts";
import { periodOf, type SettingsFile, timeOf } from "./types.ts";

const texts = (says: string) => z.array(z.string()).optional().describe(says);
const address = () =>
  z
    .string()
    .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ""), "give an address such as http://127.0.0.1:8000");
const variable = () =>
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "give the name of a variable: letters, digits and _");

/** Only then it is read as a regular expression. */
const readsAsRegExp = (matcher: string): boolean => !/^[A-Za-z0-9_\- ,|]*$/.test(matcher) && matcher !== "*";

function compiles(matcher: string): boolean {
  if (!readsAsRegExp(matcher)) return true;
  try {
    new RegExp(matcher);
    return true;
  } catch {
    return false;
  }
}

/** Both kinds of file from one description: ours refuse what they do not know, Claude's leave it alone. */
function parts(object: typeof z.strictObject, anyHook = false) {
  const permissions = object({
    allow: texts("Rules for calls that run unasked, such as `Bash(npm test *)`. Deny wins over ask, ask over allow."),
    ask: texts("Rules for calls that are always asked about."),
    deny: texts("Rules for calls that never run, such as `Read(./secrets/**)`."),
    defaultMode: z
      .enum(PERMISSION_MODES)
      .optional()
      .describe("The permission mode to start in. A repository can only tighten it: default, plan, dontAsk."),
    additionalDirectories: texts("More directories that may be read and written. Not from a repository."),
    disableBypassPermissionsMode: z
      .literal("disable")
      .optional()
      .describe("`disable`: the mode bypassPermissions is refused, whoever asks for it. Counts in every file."),
  });
  const hook = object({
    type: z.literal("command"),
    command: z.string().min(1, "give a command").describe("A shell command; with `args`, the program itself."),
    args: texts("Arguments, handed over without a shell."),
    shell: z.string().optional().describe("What the command is written for: bash (default) or sh."),
    timeout: z.number().positive("give seconds above 0").optional().describe("Seconds until it is ended."),
    if: z.string().optional().describe("A permission rule: the hook runs only for calls that match it."),
    once: z.boolean().optional().describe("Run it once a context."),
    async: z.boolean().optional().describe("Do not wait for it; its answer changes nothing."),
    asyncRewake: z
      .boolean()
      .optional()
      .describe("The same; with exit code 2 its stderr is for the model, also an idle one."),
    statusMessage: z.string().optional().describe("What is shown while it runs."),
  });
  const group = object({
    matcher: z
      .string()
      .refine(compiles, "this is no regular expression: give names such as Edit|Write, or one that compiles")
      .optional()
      .describe("Empty or `*`: all. Names with | or , between: exactly these. Anything else: a regular expression."),
    hooks: z.array(anyHook ? (hook.optional() as unknown as typeof hook) : hook),
  });
  const groupList = z.array(group);
  const groups = (event: HookEvent) => {
    const { when, never } = ruleOf(event);
    return groupList.optional().describe(never === undefined ? `When: ${when}.` : `Not run: ${never}.`);
  };
  const events = Object.fromEntries(HOOK_EVENTS.map((event) => [event, groups(event)]));
  const hooks = object(events as Record<HookEvent, z.ZodOptional<z.ZodArray<typeof group>>>);
  return {
    permissions: permissions.optional().describe("Who may do what, unasked. Lists of all scopes are joined."),
    hooks: hooks.optional().describe("Commands that run at events, in Claude Code's format. All scopes are joined."),
  };
}

const time = (such: string) =>
  z
    .string()
    .refine((text) => periodOf(text) !== undefined, `give a time such as ${such}`)
    .optional();

/** How much is done, for how long it is kept, and in which trees. */
const workParts = () => ({
  maxRounds: z
    .int("give a whole number above 0")
    .min(1, "give a whole number above 0")
    .optional()
    .describe("Model calls in a turn at most. A repository can only lower it."),
  contexts: z
    .strictObject({
      ttl: z
        .string()
        .refine((text) => timeOf(text) !== undefined, "give a time such as 12h, 30d or 8w")
        .optional()
        .describe(
          "How long contexts without a time of their own are kept: older ones go with the commands that run anyway, and with `holdfast contexts gc`.",
        ),
    })
    .optional()
    .describe("Contexts of the command line. Not from a repository."),
  backup: z
    .strictObject({
      place: z
        .string()
        .min(1, "give s3://BUCKET/PREFIX or a folder")
        .optional()
        .describe("Where backups go: s3://BUCKET/PREFIX or a folder. `holdfast worker` then keeps one up to date."),
      every: time("10s, 5m or 1h").describe("At the latest so long after something was recorded; default: 10s."),
      keep: time("30d or 8w").describe("Older backups go, once a day. Without it all are kept."),
      keyFile: z.string().min(1).optional().describe("A file with the key that backups are encrypted with."),
    })
    .optional()
    .describe("Backups of the project's state. Not from a repository."),
  budget: z
    .strictObject({
      tokens: z.int("give a whole number above 0").min(1, "give a whole number above 0").optional(),
      usd: z.number().positive("give US dollars above 0").optional(),
      rounds: z.int("give a whole number above 0").min(1, "give a whole number above 0").optional(),
    })
    .optional()
    .describe(
      "What all agents of a context may spend together: tokens, US dollars, model calls. A repository can only lower it.",
    ),
  memory: z
    .strictObject({
      extract: z
        .boolean()
        .optional()
        .describe(
          "After each `holdfast -p`, let the model read what was said and propose what is worth remembering. Costs model calls; default: false.",
        ),
      maxTokens: z
        .int("give a whole number above 0")
        .min(1, "give a whole number above 0")
        .optional()
        .describe("What one such reading may cost."),
    })
    .optional()
    .describe("What is remembered of a project. Not from a repository."),
  worktree: z
    .strictObject({
      link: texts(
        "Folders that worktrees share with the project's own tree by a link, such as `node_modules`: only what git ignores.",
      ),
    })
    .optional()
    .describe("Trees of their own for tasks."),
});

export const settingsSchema = () =>
  z
    .strictObject({
      $schema: z.string().optional().describe("The address of this schema, for editors."),
      ...parts(z.strictObject),
      sandbox: z
        .strictObject({
          enabled: z.boolean().optional().describe("Run commands inside the sandbox. A repository can only say true."),
          network: z.enum(["off", "on"]).optional().describe("The network inside. A repository can only say off."),
          readable: texts("More directories that can be read inside. Not from a repository."),
          writable: texts("More directories that can be written inside. Not from a repository."),
        })
        .optional()
        .describe("The boundary around commands."),
      model: z.string().min(1, "give provider/name").optional().describe("The model, as provider/name."),
      fallbackModels: texts("Models to go on with, in this order, when the model does not answer."),
      env: z
        .record(variable(), z.string())
        .optional()
        .describe("More variables for commands: name to value. Not from a repository."),
      providers: z
        .record(
          z.string(),
          z.strictObject({
            baseUrl: address().optional().describe("Where its API answers."),
            apiKeyEnv: variable().optional().describe("The name of the variable that holds its key; never the key."),
          }),
        )
        .optional()
        .describe("Endpoints and keys by the name of the provider. Not from a repository."),
      proxy: address().optional().describe("The proxy for requests to models. Not from a repository."),
      models: z
        .record(
          z.string(),
          z.strictObject({
            contextWindow: z
              .int("give a number of tokens")
              .min(1_000, "give a number of tokens, 1000 or more")
              .optional()
              .describe("How much it can read at once, in tokens: for a model that is not known, or to use less."),
          }),
        )
        .optional()
        .describe("What is known of models, by `provider/name`. Not from a repository."),
      mcpServers: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("MCP servers by name, as in `.mcp.json`. Not from a repository: that has `.mcp.json`."),
      plugins: texts(
        "Folders of plugins to use, relative to the project, or in your own settings to your home. Each counts only as you approved its content.",
      ),
      ...workParts(),
      disableAllHooks: z
        .boolean()
        .optional()
        .describe("Run no hooks, except managed ones. In a repository: none of the repository's."),
    })
    .describe("Settings of Holdfast.") satisfies z.ZodType<SettingsFile>;

/** A hook of another kind than ours comes as undefined, so that the others keep their places. */
export const claudeSchema = () => z.object(parts(z.object as unknown as typeof z.strictObject, true));

/** What is published as schema/settings.schema.json. */
export const settingsJsonSchema = (): object => ({
  title: "Holdfast settings",
  ...z.toJSONSchema(settingsSchema(), { target: "draft-7", io: "input", reused: "ref" }),
});
