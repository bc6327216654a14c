// What has no end, or no sensible one: sizes that fill a disk.

const UNITS: Record<string, number> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15, e: 1e18 };

/** Larger than anything a project writes by a command. */
export const HUGE = 2e10;

/** `100G`, `1e9`, `+5M`, `2GiB`; undefined for what is no size. */
export function sizeInBytes(size: string | undefined): number | undefined {
  const [, number, unit = ""] = /^[+<>/%-]?([\d.]+(?:e\d+)?)([kmgtpe]?)(?:i?b)?$/i.exec(size ?? "") ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}

export const isHuge = (size: string | undefined): boolean => (sizeInBytes(size) ?? 0) >= HUGE;
