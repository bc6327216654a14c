// Owns the help text.

export const HELP = `holdfast: a coding agent whose work survives

  holdfast -p "what to do"          one turn, then exit; with no words the prompt is read from stdin
  holdfast -p -c ["more"]           go on with the newest context here; without words take up its interrupted turn
  holdfast -p -r [ID] ["more"]      go on with that context

    --model P/NAME                  anthropic/… openai/… ollama/… openai-compatible/… openai-responses/… rehearsal rehearsal:FILE
    --fallback-model P/NAME[,…]     used when the first stays overloaded
    --output-format FORMAT          text (default), json, stream-json
    --input-format FORMAT           text (default), stream-json
    --permission-mode MODE          default, acceptEdits, plan, auto, dontAsk, bypassPermissions
    --allowedTools RULES            allow besides: "Bash(npm test *), Edit" (and --disallowedTools)
    --add-dir DIR                   one more directory to read and write
    --approvals WAY                 who answers when something needs approval: terminal, wait, deny
    --trust                         use the settings, hooks and rules of this repository from now on
    --stay                          may build a team; go on while teammates work, jobs run or something is scheduled
    --max-rounds N                  stop after N model calls (exit code 3)
    --max-budget-usd X              stop when all agents of the context together have cost so much (exit code 3)
    --append-system-prompt TEXT
    --agent NAME                    work as that type of agent (see agents ls)
    --state DIR | sqlite:FILE       instead of $XDG_STATE_HOME/holdfast
    --cwd DIR                       work there
    --quiet  --debug  --version  --help

  holdfast contexts ls [--all]      all contexts of this project, or of all projects
  holdfast contexts show ID         what happened in one
  holdfast contexts resume ID       take it up again (same as -p -r ID)
  holdfast contexts verify [ID]     read everything again and check it; --repair mends what it can, keeping the damaged file
  holdfast contexts resumable       what can be taken up again
  holdfast contexts data ID [KEY [PATH]]       what its agents share
  holdfast contexts checkpoints ID             where you can go back to (one at every prompt)
  holdfast contexts restore ID NAME [--only conversation,data,files] [--keep-changed]   go back; undo ID [--keep-changed] takes it back
  holdfast contexts diff ID A [B] [--stat]     what changed from checkpoint A to B, or to now
  holdfast contexts fork ID [NAME] | export ID FILE | import FILE | gc [--dry-run] | rm ID [--force]
  holdfast tasks                    the project's task board (holdfast tasks help)
  holdfast team ls | show NAME | send NAME TEXT | plans | approve PLAN | reject PLAN TEXT | shutdown NAME
  holdfast worktrees ls | show NAME | diff NAME [--stat] | merge NAME [--commit] | rm NAME   what teams made, and how to take it over
  holdfast worker [--concurrency N] host the teams and schedules of this project until Ctrl-C
  holdfast agents ls | show NAME    types of subagents: built-in, .holdfast/agents, .claude/agents, your own
  holdfast cron ls | add "WHEN" PROMPT | rm ID     what is scheduled: "in 3 minutes", "every weekday at 9", cron
  holdfast workflow run FILE [--input KEY=VALUE]   phases of agents over one context; each finished phase is kept
  holdfast workflow ls | show ID | retry ID [--repeat PHASE,…] | input ID KEY=VALUE
  holdfast jobs ls|show|kill [ID]   commands that run in the background
  holdfast approve [ID]             what waits for approval; allow it (--remember), or holdfast deny ID [--reason TEXT]
  holdfast permissions check "CMD"  what would be allowed and why; --json-lines reads {"command": "…"} lines
  holdfast project ls | adopt ID|DIR|new | forget ID     whose state lies where; take over that of a moved or replaced folder
  holdfast trust [add|remove]       whether this repository's own configuration is used
  holdfast doctor                   what works here, what does not, what to do about it
                                    (ls, show, verify, approve, permissions, trust and doctor take --json)

Exit codes: 0 done, 1 the work failed, 2 wrong usage, 3 limit reached, 4 refused by policy, 130 interrupted.
`;
