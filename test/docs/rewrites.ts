// The table by which a printed command becomes one that can be run in the project of the test: what stands for something is
// replaced by what is there, what needs an account by the offline model. The first rules that fit are applied one after another.

/** What is there: `{context}` in a rule is replaced by it. */
export interface World {
  plugin: string;
  project: string;
  context: string;
  /** One that may be removed. */
  spare: string;
  /** Of a workflow that is done, and of one that waits for a person. */
  workflow: string;
  waiting: string;
  job: string;
  /** Three calls that wait for approval. */
  requests: [string, string, string];
  schedule: string;
  /** A folder with an empty board, and one with five tasks. */
  board: string;
  tasks: string;
  /** A project whose folder is gone, and a folder of no project. */
  gone: string;
  other: string;
  /** Outside of every project. */
  exported: string;
}

interface Rewrite {
  printed: RegExp;
  becomes: string;
  why: string;
}

const TEAM = /Create two tasks, create worktrees for them, then spawn alice and bob\..*/;

export const REWRITES: Rewrite[] = [
  {
    printed: /^npm ci && npm start -- /,
    becomes: "holdfast ",
    why: "the clone is installed and built before tests run: `npm start --` is the command itself",
  },
  {
    printed: /^(?:npm ci(?: && npm test)?|npm test|npm run test:\w+|npx vitest run test\/loop)$/,
    becomes: "true",
    why: "this is what runs the test",
  },
  {
    printed: /^npm install \.\.\/holdfast zod$/,
    becomes: "true",
    why: "asks a registry; test/package/ goes on with the packed files",
  },
  { printed: /^npm run build && node_modules\/.bin\/node bin\/holdfast.js/, becomes: "holdfast", why: "likewise" },
  {
    printed: /^(OPENAI_BASE_URL=\S+ )?(holdfast .*)--model (?:ollama|openai|openai-compatible)\/\S+/,
    becomes: "$2--model rehearsal",
    why: "needs an account or a server",
  },
  {
    printed: /^holdfast mcp (?:show|login|logout) SERVER$/,
    becomes: "holdfast mcp ls",
    why: "needs a server and a browser: test/mcp/http.test.ts runs them",
  },
  { printed: /in 3 minutes/, becomes: "in 1 second", why: "nobody waits three minutes" },
  {
    printed: TEAM,
    becomes: 'list Markdown files"',
    why: "the set-up has run it: a team waits, its plans are answered below",
  },
  {
    printed: /^holdfast traces (?:show|send)( .*)?$/,
    becomes: "holdfast traces show {context}",
    why: "sending needs a collector: test/front/traces/ has one",
  },
  {
    printed: /^holdfast worker.*$/,
    becomes: "holdfast worker",
    why: "runs until Ctrl-C: the set-up starts it and ends it so",
  },
  {
    printed: /^holdfast (\w+) \w+(?:\|[\w…]+)+$/,
    becomes: "holdfast $1 --help",
    why: "a list of verbs: each has its own line",
  },
  { printed: /^(source <\(holdfast completion) zsh\)/, becomes: "$1 bash)", why: "zsh need not be installed" },
  {
    printed: /^cd \/tmp && (holdfast -p -r) ctx_1m7… --cwd \/home\/me\/app/,
    becomes: "cd /tmp && $1 {context} --cwd {project}",
    why: "another machine's folder",
  },
  {
    printed: /^(holdfast project adopt) (?:867dbf28)/,
    becomes: "$1 {gone} --cwd {other}",
    why: "the id of a project whose folder is gone; in a folder of its own",
  },
  {
    printed: /^(holdfast project adopt) (?:PROJECT\|DIR\|)?new$/,
    becomes: "$1 new --cwd {other}",
    why: "in a folder of its own",
  },
  {
    printed: /^(holdfast project forget) (?:867dbf28|PROJECT\|DIR)/,
    becomes: "$1 {gone} --cwd {other}",
    why: "likewise",
  },
  {
    printed: /^holdfast monitor.*$/,
    becomes: "holdfast monitor --help",
    why: "runs until Ctrl-C: test/cli/monitor.test.ts runs it",
  },
  {
    printed: /^holdfast backup run.*$/,
    becomes: "holdfast backup run --help",
    why: "runs until Ctrl-C: test/backup/command.test.ts runs it",
  },
  {
    printed: /s3:\/\/my-bucket\/\w+|(?<=^holdfast backup \w+ )\[PLACE\]/,
    becomes: "../backups",
    why: "a folder instead of a bucket",
  },
  {
    printed: /^holdfast backup restore.*$/,
    becomes: "holdfast backup now ../for-restore && holdfast backup restore ../for-restore --state ../restored",
    why: "into an empty store, once",
  },
  {
    printed: /^holdfast backup (?:ls|drill|prune) .*$/,
    becomes: "holdfast backup now ../backups && $&",
    why: "there is a backup",
  },
  {
    printed: /^(holdfast backup now \S+) --key-file \S+$/,
    becomes: "HOLDFAST_BACKUP_KEY=0123456789abcdef holdfast backup now ../encrypted",
    why: "a key, and a place without backups of another kind",
  },
  {
    printed: /^holdfast state copy(?: (?!--)\S+)*$/,
    becomes:
      "holdfast tasks add Moved --cwd {board} --state ../idle && holdfast state copy ../idle sqlite:../moved/ledger.db --cwd {board}",
    why: "nobody may work in it",
  },
  { printed: /^(holdfast contexts rm) CONTEXT/, becomes: "$1 {spare}", why: "one that is not needed any more" },
  {
    printed: /^(holdfast contexts data) CONTEXT \[KEY \[PATH\]\]/,
    becomes: "$1 {workflow} requirements '$[0]'",
    why: "a context that shares data",
  },
  {
    printed: /^(holdfast workflow (?:show|retry)) CONTEXT/,
    becomes: "$1 {waiting}",
    why: "a context that runs a workflow",
  },
  {
    printed: /^(holdfast workflow input) CONTEXT KEY=VALUE …/,
    becomes: "$1 {waiting} choice=b",
    why: "one that waits for a person",
  },
  {
    printed: /^(holdfast workflow run) FILE/,
    becomes: "$1 examples/three-phase/workflow.yaml",
    why: "a file of this project",
  },
  { printed: /^(holdfast contexts export) CONTEXT FILE/, becomes: "$1 {context} {exported}", why: "a file to write" },
  { printed: /^(holdfast contexts import) FILE/, becomes: "$1 {exported}", why: "the file that was written" },
  {
    printed: /CONTEXT CHECKPOINT \[CHECKPOINT\]/,
    becomes: '{context} "prompt 1" "prompt 2"',
    why: "checkpoints of that context",
  },
  { printed: /\[CHECKPOINT\]|CHECKPOINT/, becomes: '"prompt 1"', why: "likewise" },
  { printed: /ctx_(?:1m7)?…|\[CONTEXT(?:\|FILE)?\]|CONTEXT/, becomes: "{context}", why: "a context of this project" },
  { printed: /^(holdfast contexts checkpoint \S+) \[NAME\]/, becomes: '$1 "before the storm"', why: "any name" },
  {
    printed: /^(holdfast skills show) (?:SKILL|code-review)/,
    becomes: "$1 code-review",
    why: "the skill that ships",
  },
  {
    printed: /^(holdfast memory (?:show|forget)) NAME/,
    becomes: "holdfast memory add ports x && $1 ports",
    why: "something that is remembered",
  },
  {
    printed: /^(holdfast plugins add) (?:DIR|\.\.\/team-plugin)/,
    becomes: "$1 {plugin}",
    why: "a plugin of this machine",
  },
  {
    printed: /^(holdfast plugins remove) (?:PLUGIN|team-plugin)/,
    becomes: "holdfast plugins add {plugin} && $1 team-plugin",
    why: "one that was added",
  },
  { printed: /^(holdfast memory add) NAME TEXT …/, becomes: '$1 ports "on 4010"', why: "any text" },
  { printed: /^(holdfast memory (?:accept|reject)) PROPOSAL/, becomes: "holdfast memory inbox", why: "nothing waits" },
  { printed: /\[FOLDER\]|packages\/web/, becomes: ".", why: "a folder of this project" },
  {
    printed: /^(holdfast agents show) (?:AGENT|test-runner)/,
    becomes: "$1 planner",
    why: "a type of agent that is there",
  },
  { printed: /^(holdfast team \w+) (?:\[NAME\]|NAME)/, becomes: "$1 alice", why: "a teammate" },
  {
    printed: /plan_alice_x1y2|(?<=team approve )PLAN \[TEXT …\]/,
    becomes: "alice",
    why: "her plan: an author names it as well",
  },
  { printed: /plan_bob_z3w4|(?<=team reject )PLAN(?= TEXT)/, becomes: "bob", why: "his plan" },
  { printed: /(?<=bob )TEXT …/, becomes: '"say which files"', why: "any text" },
  { printed: /\[TEXT …\]|TEXT …/, becomes: '"go on"', why: "any text" },
  { printed: /^(holdfast approve show) REQUEST/, becomes: "$1 {requests.2}", why: "one that waits" },
  {
    printed: /^(holdfast completion ids) context(?:\|\w+)+ \S+$/,
    becomes: "$1 checkpoint {context}",
    why: "one of the kinds",
  },
  { printed: /^(holdfast deny) REQUEST/, becomes: "$1 {requests.1}", why: "likewise" },
  { printed: /REQUEST \[allow\|remember\|rule\|deny\]/, becomes: "{requests.0} allow", why: "likewise" },
  { printed: /^(holdfast contexts rm \S+)$/, becomes: "$1 --force", why: "nobody is there to be asked" },
  {
    printed: /^(holdfast worktrees \w+) (?:WORKTREE|api)(?: --commit)?$/,
    becomes: "$1 none",
    why: "no team has made any here: it says so",
  },
  { printed: / \| jq -c \.$/, becomes: " > /dev/null", why: "whatever reads it" },
  {
    printed: /^git merge holdfast\/api .*$/,
    becomes: "holdfast worktrees ls",
    why: "a line of a picture",
  },
  {
    printed: /^(holdfast permissions check)(?: \[COMMAND …\])?$/,
    becomes: '$1 "git push && rm -rf dist"',
    why: "any command",
  },
  { printed: /\bJOB\b/, becomes: "{job}", why: "a job of this project" },
  { printed: /\bSCHEDULE\b/, becomes: "{schedule}", why: "a schedule of this project" },
  { printed: /WHEN PROMPT …/, becomes: '"every weekday at 9" "Summarise what changed"', why: "any time" },
  { printed: /\[status=… owner=… label=…\]/, becomes: "status=pending owner=user label=a", why: "any filter" },
  { printed: /SUBJECT \[FIELD=VALUE …\]/, becomes: '"Write the docs" priority=high', why: "any task" },
  {
    printed: /TASK \[FIELD=VALUE …\]/,
    becomes: "task_1 priority=low --cwd {tasks}",
    why: "a task of a board that has some",
  },
  { printed: /(?<=tasks (?:show|claim|release) )TASK/, becomes: "task_1 --cwd {tasks}", why: "likewise" },
  { printed: /(?<=tasks done )TASK/, becomes: "task_2 --cwd {tasks}", why: "another" },
  { printed: /(?<=tasks cancel )TASK/, becomes: "task_3 --cwd {tasks}", why: "another" },
  { printed: /(?<=tasks rm )TASK/, becomes: "task_4 --cwd {tasks}", why: "another" },
  {
    printed: /^holdfast tasks(?! --help|.*--cwd| \w+ --help)/,
    becomes: "holdfast tasks --cwd {board}",
    why: "the examples begin with an empty board",
  },
  { printed: /(?<=tasks(?: --cwd \S+)? (?:export|import) )DIR/, becomes: ".tasks", why: "a folder" },
  { printed: /\["more"\]|"and now …"|\[PROMPT …\]/, becomes: '"list Python files"', why: "any words" },
  { printed: /"(?:…|what to do)"/, becomes: '"list Markdown files"', why: "any words" },
];

/** What is printed to show that it is refused, or asked about. */
export const EXPECTED: [RegExp, number][] = [
  [/^holdfast worktrees (?:show|diff|merge|rm) none/, 1],
  [/^holdfast permissions check "(?:mycli|git commit)/, 4],
  [/^holdfast permissions check "git push.*--mode auto/, 0],
  [/^holdfast permissions check "git push/, 5],
  [/^holdfast permissions check --json "source/, 4],
];

export function rewritten(printed: string, used: Set<Rewrite> = new Set()): string {
  return REWRITES.reduce((text, rule) => {
    if (!rule.printed.test(text)) return text;
    used.add(rule);
    return text.replace(rule.printed, rule.becomes);
  }, printed);
}
