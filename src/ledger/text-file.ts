// Reading a file that a person or a repository names: a regular one of a sane size. A pipe or a device would never end.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const MOST_BYTES = 16 << 20;

/** Contract: throws at once, in words that fit after "cannot be read:", for whatever is no such file. */
export function readTextFile(file: string, mostBytes = MOST_BYTES): string {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile())
      throw new Error(`it is ${stat.isDirectory() ? "a directory" : "a pipe or a device"}, not a file`);
    if (stat.size > mostBytes) throw new Error(`it has ${stat.size} bytes, at most ${mostBytes} are read`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}
