// The tables of what is around the work: approvals, permissions, trust, project, doctor, completion.
import { VERSION as NUMBER } from "../../version.ts";
import { type Command, verb } from "../command.ts";
import type { CompletedId } from "../completion-entries.ts";
import { text, toggle } from "../flag.ts";
import { EVERY, JSON_TOO, PLACE, POLICY } from "../flags.ts";

const LOOK = { ...JSON_TOO, ...PLACE };
const REASON = { reason: text("TEXT", "told to the agent") };
const approve = () => import("../commands/approve.ts");
const project = () => import("../commands/project.ts");
const trust = () => import("../commands/trust.ts");
const INSTRUCTIONS: Command = {
  help: "AGENTS.md, CLAUDE.md and their like: which are read, in which order, and why",
  also: ["instruction"],
  verbs: {
    "": verb({
      words: "[FOLDER]",
      help: "those an agent reads at its start, and those it is shown when it comes into FOLDER",
      flags: { text: toggle("their text too"), trust: POLICY.trust, ...LOOK },
      run: async (flags, [folder]) => (await import("../commands/instructions.ts")).instructions(flags, folder),
    }),
  },
};

const ANSWER = { remember: toggle("the same call in this context is not asked about again"), ...REASON, ...LOOK };

const APPROVE: Command = {
  help: "what waits for approval, and allowing it",
  also: ["approvals", "approval"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "what waits, whole",
      flags: LOOK,
      run: async (flags) => (await approve()).ls(flags),
    }),
    show: verb({
      words: "REQUEST",
      help: "one of them, whole; nothing is answered",
      flags: LOOK,
      run: async (flags, [id]) => (await approve()).show(flags, id),
    }),
    "": verb({
      words: "REQUEST [allow|remember|rule|deny]",
      help: "answer it: allow once, remember exactly this, keep the rule that it shows, or deny",
      flags: ANSWER,
      run: async (flags, [id, way]) => (await approve()).answer(flags, id, way),
    }),
  },
};

const DENY: Command = {
  help: "refuse what waits for approval",
  verbs: {
    "": verb({
      words: "REQUEST",
      help: "refuse what waits for approval",
      flags: ANSWER,
      run: async (flags, [id]) => (await approve()).answer(flags, id, "deny"),
    }),
  },
};

const PERMISSIONS: Command = {
  help: "what would be allowed, and why; nothing runs",
  also: ["permission"],
  verbs: {
    check: verb({
      words: "[COMMAND …]",
      help: "what would be said to a command, part by part",
      more: `Exit codes: 0 allowed, 4 refused, 5 a person would be asked. With --json-lines it is 0: each line has its decision.

  holdfast permissions check "git push && rm -rf dist"`,
      flags: {
        jsonLines: toggle(
          'one question a line on standard input: {"command": "…"} or {"tool": "read_file", "path": "…"}',
        ),
        ...POLICY,
        ...LOOK,
      },
      run: async (flags, words) => (await import("../commands/permissions.ts")).check(flags, words),
    }),
  },
};

const PROJECT: Command = {
  help: "whose state lies where; take over that of a moved or replaced folder",
  also: ["projects"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "every project, its folders; * is the one here",
      flags: LOOK,
      run: async (flags) => (await project()).ls(flags),
    }),
    adopt: verb({
      words: "PROJECT|DIR|new",
      help: "this folder goes on with that project's contexts, tasks and schedules, or begins anew",
      flags: LOOK,
      run: async (flags, [which]) => (await project()).adopt(flags, which),
    }),
    forget: verb({
      words: "PROJECT|DIR",
      help: "no folder leads to it any more; its data stays, and can be adopted",
      flags: LOOK,
      run: async (flags, [which]) => (await project()).forget(flags, which),
    }),
  },
};

const TRUST: Command = {
  help: "whether this repository's own configuration is used",
  bare: "show",
  verbs: {
    show: verb({
      words: "",
      help: "what holds here, and what would be trusted",
      flags: LOOK,
      run: async (flags) => (await trust()).show(flags),
    }),
    add: verb({
      words: "",
      help: "use its settings, hooks and rules as they are now",
      flags: LOOK,
      run: async (flags) => (await trust()).add(flags),
    }),
    remove: verb({
      words: "",
      help: "use none of it any more",
      flags: LOOK,
      run: async (flags) => (await trust()).remove(flags),
    }),
  },
};

const DOCTOR: Command = {
  help: "what works here, what does not, what to do about it",
  verbs: {
    "": verb({
      words: "",
      help: "what works here, what does not, what to do about it",
      flags: LOOK,
      run: async (flags) => (await import("../commands/doctor.ts")).doctor(flags),
    }),
  },
};

/** As `completion-entries.ts` has them: it reads these tables. */
const KINDS = ["context", "request", "plan", "job", "task", "worktree", "checkpoint", "agent"] satisfies CompletedId[];

const script = (shell: "bash" | "zsh" | "fish", how: string) =>
  verb({
    words: "",
    help: how,
    flags: EVERY,
    run: async () => (await import("../completion.ts")).completion(shell),
  });

const COMPLETION: Command = {
  help: "what a shell needs to complete command lines",
  also: ["completions"],
  verbs: {
    bash: script("bash", "in ~/.bashrc: source <(holdfast completion bash)"),
    zsh: script("zsh", "in ~/.zshrc, after compinit: source <(holdfast completion zsh)"),
    fish: script("fish", "holdfast completion fish > ~/.config/fish/completions/holdfast.fish"),
    contexts: verb({
      words: "",
      help: "ids and titles of this project, one a line",
      flags: PLACE,
      run: async (flags) => (await import("../completion-ids.ts")).offerIds("context", flags),
    }),
    ids: verb({
      words: `${KINDS.join("|")} [CONTEXT]`,
      help: "ids of such things in this project, one a line: the scripts ask for them",
      flags: PLACE,
      async run(flags, [kind, context]) {
        const known = KINDS.find((one) => one === kind);
        return known ? (await import("../completion-ids.ts")).offerIds(known, flags, context) : 0;
      },
    }),
  },
};

const VERSION_COMMAND: Command = {
  help: "which one this is",
  verbs: {
    "": verb({
      words: "",
      help: "which one this is",
      flags: EVERY,
      async run() {
        process.stdout.write(`${NUMBER}\n`);
        return 0;
      },
    }),
  },
};

const REPLAY: Command = {
  help: "what this version would have done otherwise, over what was recorded",
  more: "Nothing is asked, run or written. Exit code 0: nothing differs; 1: something does.",
  verbs: {
    "": verb({
      words: "[CONTEXT|FILE]",
      help: "computes every decision of a context, or of a recording in a file, anew, and compares",
      flags: {
        all: toggle("every context of this project"),
        since: text("TIME", "with --all: those in which something happened since, such as 30d"),
        ...LOOK,
      },
      run: async (flags, [context]) => (await import("../commands/replay.ts")).replay(flags, context),
    }),
  },
};

/** In the order of help. */
export const HOUSE_COMMANDS: Readonly<Record<string, Command>> = {
  approve: APPROVE,
  deny: DENY,
  permissions: PERMISSIONS,
  instructions: INSTRUCTIONS,
  project: PROJECT,
  trust: TRUST,
  replay: REPLAY,
  doctor: DOCTOR,
  completion: COMPLETION,
  version: VERSION_COMMAND,
};
