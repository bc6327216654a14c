// Errors of the operating system in plain words: what is wrong with which path, and what to do.

interface SystemError extends Error {
  code: string;
  syscall: string;
  path?: string;
  dest?: string;
}

const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && "syscall" in error && typeof error.syscall === "string" && "errno" in error;

type Says = (path: string) => string;

/** A code stays where the words alone would not tell a person who helps what happened. */
const WORDS: Record<string, Says> = {
  ENOENT: (path) => `${path} is not there`,
  ENOTDIR: (path) => `${path} cannot be: a part of this path is a file, not a folder`,
  EEXIST: (path) => `${path} is there already`,
  EISDIR: (path) => `${path} is a folder, not a file`,
  ENOTEMPTY: (path) => `${path} is not empty`,
  EACCES: (path) => `${path} may not be used: permission denied`,
  EPERM: (path) => `${path} may not be changed: permission denied`,
  EROFS: (path) => `${path} cannot be written: its disk is read-only (EROFS)`,
  ENOSPC: (path) => `${path} cannot be written: the disk is full (ENOSPC); make room`,
  EDQUOT: (path) => `${path} cannot be written: your quota of the disk is used up (EDQUOT); make room`,
  EIO: (path) => `${path} cannot be used: the disk fails (EIO)`,
  ELOOP: (path) => `${path} is a link that is not followed, or leads in a circle`,
  ENAMETOOLONG: () => "the name of the file is too long",
  EBUSY: (path) => `${path} is in use (EBUSY)`,
  EXDEV: (path) => `${path} cannot be moved to another disk (EXDEV)`,
  EMFILE: () => "too many files are open (EMFILE): raise the limit with ulimit -n",
  ENFILE: () => "too many files are open on this machine (ENFILE)",
  ENOMEM: () => "there is not enough memory (ENOMEM)",
  EAGAIN: (path) => `${path} cannot be used at the moment (EAGAIN): too many processes?`,
};

/** Undefined when it is none, or one without words. `shown`: how its reader knows the path. */
export function systemErrorText(error: unknown, shown?: string): string | undefined {
  if (!isSystemError(error)) return undefined;
  const { code, syscall, path } = error;
  if (syscall.startsWith("spawn"))
    return code === "ENOENT" ? `there is no program ${path ?? syscall.slice("spawn ".length)}` : undefined;
  if (code === "ENOENT" && syscall === "mkdir") return `${shown ?? path} cannot be made: nothing can be made there`;
  return WORDS[code]?.(shown ?? path ?? "the file");
}
