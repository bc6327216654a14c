// What a crontab can say: how often, in its own words; and the variables that must stand in one, as it has none of a shell's.

export interface CrontabTime {
  /** The five fields. */
  when: string;
  /** How often that is, for people: `2 h`. */
  says: string;
  /** Whether it is what was wanted. */
  isExact: boolean;
}

const HOUR = 60;
const DAY = 24 * HOUR;
const EVEN_MINUTES = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
const EVEN_HOURS = [1, 2, 3, 4, 6, 8, 12];

/** By how many minutes lie between. Other steps begin anew at each hour, day or month: they are uneven. */
const SAYABLE: readonly { minutes: number; when: string; says: string }[] = [
  ...EVEN_MINUTES.map((n) => ({ minutes: n, when: `*/${n} * * * *`, says: `${n} min` })),
  ...EVEN_HOURS.map((n) => ({ minutes: n * HOUR, when: `0 */${n} * * *`, says: `${n} h` })),
  { minutes: DAY, when: "0 3 * * *", says: "day" },
  { minutes: 7 * DAY, when: "0 3 * * 0", says: "week" },
];

/** The nearest that it can say evenly. */
export function crontabTime(ms: number): CrontabTime {
  const wanted = ms / 60_000;
  const farness = (minutes: number) => Math.abs(Math.log(minutes / wanted));
  const [nearest] = SAYABLE.toSorted((a, b) => farness(a.minutes) - farness(b.minutes));
  const { minutes, when, says } = nearest!;
  return { when, says, isExact: minutes === wanted };
}

/** A command as it stands in a crontab: there a bare `%` ends the line. */
export const crontabCommand = (command: string): string => command.replaceAll("%", "\\%");

/** Blanks around a value, and quotes, are kept only between quotes. */
export const crontabVariable = (name: string, value: string): string =>
  `${name}=${/^\s|\s$|^["']|^$/.test(value) ? `"${value}"` : value}`;
