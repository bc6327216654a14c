// Owns the port to whoever keeps the project's files of a checkpoint. Contexts only store its marks.

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

export interface FileKeeper {
  /** Contract: changes nothing of the project. */
  save(): Promise<FileMark>;
  /** Contract: brings back what the mark holds, but for `keep`; what is not as in `expect` by now is skipped unless `force`. */
  restore(mark: FileMark, opts: { force?: boolean; keep?: string[]; expect?: FileMark }): Promise<FileReport>;
  /** What a restore would overwrite or remove and that is not as in `expect`, with the time of its last change. Without it nobody is asked. */
  wouldLose?(mark: FileMark, expect: FileMark): Promise<{ path: string; at: number }[]>;
  /** `undefined`: the files as they are now. */
  diff(a: FileMark | undefined, b: FileMark | undefined): Promise<FileDiff>;
}
