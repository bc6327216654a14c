// The progress bar of long work: on a terminal only, never in a pipe.

export function createProgressBar(label: string): { update(done: number, total: number): void; end(): void } {
  if (!process.stderr.isTTY) return { update: () => undefined, end: () => undefined };
  const startedAt = Date.now();
  let shownAt = 0;
  return {
    update(done, total) {
      const now = Date.now();
      if (now - startedAt < 500 || now - shownAt < 100) return; // short work needs no bar
      shownAt = now;
      const share = total > 0 ? done / total : 0;
      const filled = Math.round(share * 24);
      process.stderr.write(
        `\r${label} [${"█".repeat(filled)}${"·".repeat(24 - filled)}] ${Math.round(share * 100)} %  ${Math.round((now - startedAt) / 1000)} s`,
      );
    },
    end() {
      if (shownAt > 0) process.stderr.write("\r\u001b[K");
    },
  };
}
