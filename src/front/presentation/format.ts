// How numbers are written for people: durations, ages, tokens, bytes, money. Imports nothing: the monitor's page uses it too.

/** `0.3 s`, `4.1 s`, `2 min 5 s`, `1 h 3 min`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** For what changes every moment: whole seconds. */
export const elapsed = (ms: number): string => (ms < 59_950 ? `${Math.floor(ms / 1000)} s` : duration(ms));

/** `950`, `12.3k`, `1.2M`. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  return n < 999_950 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

/** Undefined: a price is not known, and none is guessed. */
export function money(usd: number | undefined): string {
  if (usd === undefined) return "cost unknown";
  return `$${usd === 0 ? "0" : usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

/** How long ago: `40 s`, `5 min`, `3 h`, `2 d`. */
export function ago(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172_800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} d`;
}

/** `950 B`, `12.3 kB`, `1.2 MB`. */
export function byteCount(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 999_950) return `${(n / 1000).toFixed(1)} kB`;
  return n < 999_950_000 ? `${(n / 1_000_000).toFixed(1)} MB` : `${(n / 1_000_000_000).toFixed(1)} GB`;
}
