// Every run of git by the harness: which binary, with what environment and configuration, and how it ends.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { Socket } from "node:net";
import os from "node:os";
import type { Readable, Writable } from "node:stream";
import { HoldfastError } from "../ledger/error.ts";
import { findProgram, searchPath } from "../ledger/programs.ts";

export interface GitCall {
  args: string[];
  /** The repository, by name: git never goes looking for one. */
  gitDir: string;
  /** Object directories to read from as well; nothing is ever written to them. */
  alternates?: string[];
  input?: Uint8Array | string;
  signal?: AbortSignal;
  /** Folders that no program is taken from: the project. */
  avoid?: string;
  /** Runs behind everything else on the machine, and the process does not stay for it. */
  background?: boolean;
  /** Ctrl-C at the terminal does not reach it: what it has begun it finishes. */
  apart?: boolean;
  /** Works on the user's own repository, under the configuration of the user and what `settings` says, with these values before all of it. */
  own?: OwnRepository;
}

export interface OwnRepository {
  /** The tree that its files are in; default: none is touched. */
  tree?: string;
  /** Where its settings are read (`GIT_COMMON_DIR`); default: its own. Contract: without it only what runs no program whatever they say. */
  settings?: string;
  config: [key: string, value: string][];
  /** Passed on to git and all it starts, as descriptor 3. */
  descriptor?: number;
}

export type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** What would run a program, follow a configuration of somebody else, or touch more than it was asked to. */
const CONFIG = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.attributesFile=/dev/null",
  "core.excludesFile=/dev/null",
  "core.autocrlf=false",
  "core.safecrlf=false",
  "core.symlinks=true",
  "core.fileMode=true",
  "core.untrackedCache=false",
  "core.commitGraph=false",
  "core.pager=cat",
  "core.editor=:",
  "core.askPass=true",
  "core.sshCommand=false",
  "credential.helper=",
  "protocol.allow=never",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "push.recurseSubmodules=no",
  "diff.ignoreSubmodules=dirty",
  "diff.submodule=short",
  "status.submoduleSummary=false",
  "log.showSignature=false",
  "merge.verifySignatures=false",
  "gpg.program=false",
  "gpg.openpgp.program=false",
  "gpg.x509.program=false",
  "gpg.ssh.program=false",
  "core.alternateRefsCommand=false",
  "diff.external=",
  "commit.gpgSign=false",
  "pack.threads=1",
];

/** Of these, what is the user's own business in a repository of theirs. */
const TASTE = /^core\.(?:attributesFile|excludesFile|autocrlf|safecrlf|symlinks|fileMode)=/;

/** In `info/attributes` of a private git directory: the last word on attributes. No filter, no conversion. */
export const NO_ATTRIBUTES =
  "* -filter -text -eol -crlf -ident -working-tree-encoding -diff -merge -export-subst -export-ignore\n";

/** Contract: of the caller's environment only what finds programs and temporary files gets through; no `GIT_*` does. */
export function gitEnvironment(call: Pick<GitCall, "alternates" | "avoid">, env = process.env): NodeJS.ProcessEnv {
  return {
    PATH: searchPath(call.avoid, env.PATH).join(":"),
    ...(env.TMPDIR ? { TMPDIR: env.TMPDIR } : {}),
    HOME: "/nonexistent",
    XDG_CONFIG_HOME: "/nonexistent",
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_PAGER: "cat",
    GIT_EDITOR: ":",
    ...(call.alternates?.length
      ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: call.alternates.map(quoted).join(":") }
      : undefined),
  };
}

/** The user's configuration is found; by variables, because a key may hold any character. */
function ownEnvironment(call: GitCall, own: OwnRepository, env = process.env): NodeJS.ProcessEnv {
  const { GIT_CONFIG_NOSYSTEM, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, GIT_ATTR_NOSYSTEM, ...rest } = gitEnvironment(
    call,
    env,
  );
  const { HOME, XDG_CONFIG_HOME } = env;
  return {
    ...rest,
    HOME: HOME ?? os.homedir(),
    XDG_CONFIG_HOME,
    ...(own.settings === undefined ? {} : { GIT_COMMON_DIR: own.settings }),
    GIT_CONFIG_COUNT: String(own.config.length),
    ...Object.fromEntries(
      own.config.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  };
}

/** Contract: the caller reads stdout; `ended` rejects with one line when git says no or cannot be started. */
export function startGit(call: GitCall): { child: GitProcess; ended: Promise<void> } {
  const { own } = call;
  const args = ["--no-pager", "--literal-pathspecs", `--git-dir=${call.gitDir}`];
  if (own?.tree !== undefined) args.push(`--work-tree=${own.tree}`);
  for (const setting of CONFIG) if (!own || !TASTE.test(setting)) args.push("-c", setting);
  const env = own ? ownEnvironment(call, own) : gitEnvironment(call);
  const child = spawn(gitBinary(env.PATH ?? ""), [...args, ...call.args], {
    cwd: own?.tree ?? call.gitDir,
    env,
    stdio: ["pipe", "pipe", "pipe", ...(own?.descriptor === undefined ? [] : [own.descriptor])],
    detached: call.apart ?? false,
    signal: call.signal,
    killSignal: "SIGKILL",
  }) as GitProcess;
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (said.length < 4_000) said += text;
  });
  child.stdin.on("error", () => undefined); // it ended before it had read everything: its exit code says why
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", (error) => reject(failed(call, error.message, error)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(failed(call, inOneLine(said) || `it ended with ${signal ?? code}`));
    });
  });
  ended.catch(() => undefined); // whoever waits sees it
  if (call.background && child.pid) stepBack(child, child.pid);
  if (call.input !== undefined) child.stdin.end(call.input);
  return { child, ended };
}

/** Git says the cause first, then what came of it, then hints. */
function inOneLine(said: string): string {
  const lines = said.trim().split("\n");
  const errors = lines.filter((line) => /^(?:error|fatal): /.test(line));
  return errors.length > 0 ? [...new Set([errors[0], errors.at(-1)])].join("; ") : (lines.at(-1) ?? "");
}

function stepBack(child: GitProcess, pid: number): void {
  try {
    os.setPriority(pid, os.constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {} // it runs as everything else does
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) if (pipe instanceof Socket) pipe.unref();
}

/** Contract: everything git printed; throws when it says no. */
export async function runGit(call: GitCall): Promise<Buffer> {
  const { child, ended } = startGit({ ...call, input: call.input ?? "" });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await ended;
  return Buffer.concat(chunks);
}

/** Contract: an exit code that is no success is an answer too; throws only when git could not run. */
export async function tryGit(call: GitCall): Promise<{ code: number; out: Buffer; why: string }> {
  const { child, ended } = startGit({ ...call, input: call.input ?? "" });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  const why = await ended.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (child.exitCode === null) await ended; // it never ran, or was killed: that is no answer
  return { code: (await code)!, out: Buffer.concat(chunks), why };
}

function failed(call: GitCall, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError("disk", `git ${call.args[0]} did not work: ${why}`, { cause });
}

/** Absolute folders only, and none inside the project: a repository brings no git of its own. */
function gitBinary(searched: string): string {
  const file = findProgram("git", searched.split(":"));
  if (!file) throw new HoldfastError("not_found", "git is not installed: install it, or work without file checkpoints");
  return file;
}

/** As git reads it in a list separated by colons. */
function quoted(dir: string): string {
  return `"${dir.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
