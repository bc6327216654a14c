// What read_file opens besides files: the whole of an output that was bounded (blob:…).

/** No file: only read_file knows such paths. */
export const isKept = (path: string): boolean => path.startsWith("blob:");
