// The port to whoever keeps the project's files of a checkpoint. Contexts only store its marks.

/** What a keeper needs to find a saved state of the files again: JSON, small. */
export interface FileMark {
  id: string;
  [more: string]: unknown;
}

export interface FileReport {
  /** Paths written, deleted, and left alone with the reason. */
  written: number;
  deleted: number;
  skipped: { path: string; reason: string }[];
  [more: string]: unknown;
}

export interface FileDiff {
  added: string[];
  changed: string[];
  removed: string[];
}

/** One file of a mark. */
export interface FileVersion {
  kind: "file" | "link";
  /** Permission bits; 0 for links. */
  mode: number;
  bytes: number;
  /** Of a link: where it leads. Missing: it is longer than was asked for, or damaged. */
  content?: Uint8Array;
}

export interface FileKeeper {
  /**
   * Contract: changes nothing of the project. `since`: the mark also holds when files were last changed, of those that were since then.
   * `whole`: however long it takes; otherwise it may be partial.
   */
  save(opts?: { since?: number; whole?: boolean }): Promise<FileMark>;
  /** Contract: brings back what the mark holds, but for `keep`; what is not as in `expect` by now is skipped, and so is what no mark holds. */
  restore(mark: FileMark, opts: { keep?: string[]; expect?: FileMark }): Promise<FileReport>;
  /** What a restore would overwrite or remove, with the time of its last change; empty folders too. Without it nobody is asked. */
  wouldLose?(mark: FileMark): Promise<{ path: string; at: number; folder?: true }[]>;
  /** Of these paths, those that are now as in the mark, and when they had been changed then: `older` than its `since`, or `unknown`. */
  changedAt?(mark: FileMark, paths: readonly string[]): Promise<{ path: string; at: number | "older" | "unknown" }[]>;
  /** `undefined`: the files as they are now. */
  diff(a: FileMark | undefined, b: FileMark | undefined): Promise<FileDiff>;
  /** What is in files of a mark, by path; content up to so many bytes each. Without it a diff knows names only. */
  contents?(mark: FileMark, paths: readonly string[], maxBytes: number): Promise<Map<string, FileVersion>>;
}
