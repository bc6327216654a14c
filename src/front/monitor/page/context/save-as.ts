// Gives the reader a file.

/** Gives what to say of it. */
export function saveAs(bytes: Blob, name: string): string {
  const url = URL.createObjectURL(bytes);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has opened it by then; kept for ever it would stay in memory.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return `saved as ${name}`;
}
