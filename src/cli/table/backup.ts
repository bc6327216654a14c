// The tables of what keeps the state safe: backups, and copies into another store.
import { type Command, verb } from "../command.ts";
import { text, toggle } from "../flag.ts";
import { JSON_TOO, PLACE } from "../flags.ts";

const KEY = { keyFile: text("FILE", "the key that it is encrypted with; or $HOLDFAST_BACKUP_KEY") };
const COMMON = { ...KEY, ...JSON_TOO, ...PLACE };
const OF_PROJECT = { project: text("ID", "of that project, not of this folder's") };
const AT = { at: text("BACKUP|TIME", "that one, or the newest up to that time; default: the newest") };
const KEEP = { keep: text("TIME", "for how long backups are kept, such as 30d") };
const every = (usual: string) => ({ every: text("TIME", `how often, such as ${usual}`) });
const backup = () => import("../commands/backup.ts");

export const BACKUP: Command = {
  help: "copies of this project's state in a bucket or a folder; restoring one",
  also: ["backups"],
  more: `PLACE is s3://BUCKET/PREFIX or a folder; without it, backup.place of your settings. A bucket's keys stand in
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, where it is in AWS_REGION or AWS_ENDPOINT_URL.`,
  verbs: {
    now: verb({
      words: "[PLACE]",
      help: "one now: what is new since the last",
      flags: { anew: toggle("everything again, over what is there: mends a damaged backup"), ...COMMON },
      run: async (flags, [place]) => (await backup()).now(flags, place),
    }),
    run: verb({
      words: "[PLACE]",
      help: "one whenever something was recorded, until Ctrl-C",
      flags: { ...every("10s"), ...KEEP, quiet: toggle("only what goes wrong", { short: "q" }), ...COMMON },
      run: async (flags, [place]) => (await backup()).follow(flags, place),
    }),
    ls: verb({
      words: "[PLACE]",
      help: "which there are",
      flags: { ...OF_PROJECT, ...COMMON },
      run: async (flags, [place]) => (await backup()).ls(flags, place),
    }),
    restore: verb({
      words: "[PLACE]",
      help: "into an empty store, checked whole before; nothing of it starts by itself",
      flags: {
        ...AT,
        partial: toggle("what is whole, where a part is missing or damaged"),
        ...OF_PROJECT,
        ...COMMON,
      },
      run: async (flags, [place]) => {
        await (await import("../restorable.ts")).refuseUnlessRestorable(flags, place);
        return (await backup()).restore(flags, place);
      },
    }),
    schedules: verb({
      words: "",
      help: "what restored contexts had scheduled: it is off here, and what sets it again",
      flags: { ...JSON_TOO, ...PLACE },
      run: async (flags) => (await import("../restored-schedules.ts")).showSchedules(flags),
    }),
    drill: verb({
      words: "[PLACE]",
      help: "restore one to a temporary place, compare it with what is here, remove it",
      flags: { ...AT, ...OF_PROJECT, ...COMMON },
      run: async (flags, [place]) => (await backup()).drill(flags, place),
    }),
    prune: verb({
      words: "[PLACE]",
      help: "remove old ones, and what no other needs; the newest stays",
      flags: {
        ...KEEP,
        dryRun: toggle("only say what would go"),
        force: toggle("also what is held because it is the last that has ledgers that vanished"),
        ...OF_PROJECT,
        ...COMMON,
      },
      run: async (flags, [place]) => (await backup()).pruneOld(flags, place),
    }),
    schedule: verb({
      words: "[PLACE]",
      help: "what to put into a crontab or your settings; nothing is installed",
      flags: { ...every("1h"), ...COMMON },
      run: async (flags, [place]) => (await import("../commands/backup-schedule.ts")).schedule(flags, place),
    }),
  },
};

export const STATE: Command = {
  help: "this project's state in another store",
  verbs: {
    copy: verb({
      words: "FROM TO",
      help: "copy it exactly, and compare; a copy that was cut off goes on",
      more: "FROM and TO are what --state takes. End what runs first; afterwards use TO only.",
      flags: { ...JSON_TOO, ...PLACE },
      run: async (flags, [from, to]) => (await import("../commands/state.ts")).copy(flags, from, to),
    }),
  },
};
