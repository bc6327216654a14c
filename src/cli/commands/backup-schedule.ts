// `holdfast backup schedule`: what to put into a crontab or the settings, so that it backs up this very store. Installs nothing.

import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { endpointIn } from "../../backup/s3-place.ts";
import { absoluteState, commandLine, shellWord } from "../../front/presentation/command-line.ts";
import { printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { hasPassword, isServer, passwordLeftOut } from "../../ledger/server-address.ts";
import { type BackupFlags, backupSettings, openVaultFor, timeFlag } from "../backup-place.ts";
import { crontabCommand, crontabTime, crontabVariable } from "../crontab.ts";
import type { JsonToo } from "../flags.ts";
import { projectOf } from "../open.ts";
import { nowWords } from "./backup.ts";

type Flags = BackupFlags & JsonToo & { every?: string | undefined };

/** What stands for a secret; the person puts it in. */
const LEFT_OUT = "…";
const DEFAULT_EVERY = "1h";

const say = (line: string): void => void process.stdout.write(`${printable(line)}\n`);

/** Contract: prints; nothing is installed. */
export async function schedule(flags: Flags, given: string | undefined): Promise<number> {
  const project = await projectOf(flags);
  const settings = await backupSettings(flags, project);
  const named = given ?? settings.place;
  // A bucket is not asked: its keys are only needed where it runs.
  const place = named?.startsWith("s3://")
    ? bucketShown(named)
    : (await openVaultFor(flags, project, { given, write: true, settings })).place.shown;
  const every = flags.every ?? DEFAULT_EVERY;
  const { when, says, isExact } = crontabTime(timeFlag("every", every) ?? 0);
  const { variables, leftOut, isStateThere } = variablesOf(flags, { place, keyFile: settings.keyFile });
  const there = isStateThere ? { ...flags, state: undefined } : flags;
  const line = commandLine(nowWords(flags, place), there, project.root);
  const command = `${program()}${line.slice("holdfast".length)}`;
  const keyFile = flags.keyFile === undefined ? settings.keyFile : resolve(flags.keyFile);
  const backup = { place, every: "10s", keep: "30d", ...(keyFile !== undefined && { keyFile }) };
  const crontab = `${when} ${crontabCommand(command)}`;
  if (!isExact) {
    const run = commandLine(
      ["backup", "run", ...nowWords(flags, place).slice(2), "--every", every],
      flags,
      project.root,
    );
    process.stderr.write(
      `holdfast: a crontab cannot say ${printable(every)}: every ${says}; \`${printable(run)}\` can\n`,
    );
  }
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ crontab, command, variables, leftOut, settings: { backup } })}\n`);
    return 0;
  }
  say("For `crontab -e` (nothing was installed):");
  for (const one of [...variables, crontab]) say(`  ${one}`);
  if (leftOut.length > 0) say(`Put in where ${LEFT_OUT} stands: ${leftOut.join(", ")}. They are not printed here.`);
  say("For a backup that is seconds behind, while `holdfast worker` runs, in your settings:");
  say(`  ${JSON.stringify({ backup })}`);
  return 0;
}

function bucketShown(url: string): string {
  const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(url) ?? [];
  if (bucket === undefined) throw new HoldfastError("invalid", `${url} names no bucket: give s3://BUCKET/PREFIX`);
  return ["s3:/", bucket, ...prefix.split("/").filter(Boolean)].join("/");
}

/** As it runs now: a crontab knows few folders of programs. */
function program(): string {
  const [, script] = process.argv;
  return script === undefined ? "holdfast" : [process.execPath, resolve(script)].map(shellWord).join(" ");
}

interface Variables {
  /** Lines of the crontab. */
  variables: string[];
  /** What the person has to put in. */
  leftOut: string[];
  /** The address stands in a variable, so that no list of processes shows it. */
  isStateThere: boolean;
}

/** What this command was told by its environment, and one in a crontab would not be. */
function variablesOf(flags: Flags, { place, keyFile }: { place: string; keyFile: string | undefined }): Variables {
  const { env } = process;
  const variables: string[] = [];
  const leftOut: string[] = [];
  const put = (name: string, value: string | undefined) => {
    if (value) variables.push(crontabVariable(name, value));
  };
  const putSecret = (name: string, what = name) => {
    put(name, LEFT_OUT);
    leftOut.push(what);
  };
  if (env.HOME && env.HOME !== ownHome()) put("HOME", env.HOME);
  put("XDG_CONFIG_HOME", env.XDG_CONFIG_HOME);
  put("XDG_STATE_HOME", env.XDG_STATE_HOME);
  const state = flags.state ?? (env.HOLDFAST_STATE || undefined);
  const isSecret = state !== undefined && isServer(state) && hasPassword(state);
  const isStateThere = isSecret || (flags.state === undefined && state !== undefined);
  if (isStateThere)
    put("HOLDFAST_STATE", isServer(state ?? "") ? passwordLeftOut(state ?? "", LEFT_OUT) : absoluteState(state ?? ""));
  if (isSecret) leftOut.push("the password in HOLDFAST_STATE");
  const hasFile = flags.keyFile !== undefined || keyFile !== undefined;
  if (env.HOLDFAST_BACKUP_KEY && !hasFile)
    putSecret("HOLDFAST_BACKUP_KEY", "HOLDFAST_BACKUP_KEY (better: a file, with --key-file)");
  if (place.startsWith("s3://")) {
    putSecret("AWS_ACCESS_KEY_ID");
    putSecret("AWS_SECRET_ACCESS_KEY");
    const [region, endpoint] = [env.AWS_REGION || env.AWS_DEFAULT_REGION, endpointIn(env)];
    put("AWS_REGION", region);
    put("AWS_ENDPOINT_URL", endpoint);
    if (!region && !endpoint)
      putSecret("AWS_REGION", "AWS_REGION (or AWS_ENDPOINT_URL for another service than Amazon's)");
  }
  return { variables, leftOut, isStateThere };
}

/** The home that a crontab begins with. */
function ownHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return homedir(); // a user without an entry
  }
}
