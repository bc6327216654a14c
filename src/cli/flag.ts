// What a flag is: how it is spelt, what follows it, one line of help; and what it is read as. Data: parsing, help, completion and guesses follow from it.
import { HoldfastError } from "../ledger/error.ts";
import { nearestName } from "../text/similarity.ts";

export interface Spelling {
  /** Without dashes. */
  name: string;
  /** A switch that stands for this argument. */
  means?: string;
  /** Of other programs, or of older days: it works, help does not show it. */
  hidden?: true;
}

export interface Flag<T = unknown> {
  /** What follows it, as help shows it; undefined: a switch. */
  argument?: string | undefined;
  /** The argument may be left out. */
  optional?: true;
  help: string;
  /** The first is the one that help shows. */
  spellings: readonly Spelling[];
  /** One letter. */
  short?: string;
  /** The only ones it takes, or the ones that are usual. */
  values?: readonly string[];
  /** It is accepted and does nothing. Read as how it was typed, where that is to be said. */
  idle?: true;
  /** An argument that follows the first without a flag of its own is one more: several are given so to other programs. */
  alsoTakes?: (argument: string) => boolean;
  /** What was given, in order; undefined where there was no argument. */
  read(given: readonly (string | undefined)[], typed: string): T;
}

export type FlagTable = Readonly<Record<string, Flag>>;
export type Values<F extends FlagTable> = { [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

/** How it is spelt where that is not its key in kebab case; the first is shown. */
interface More {
  short?: string;
  spellings?: readonly (string | Spelling)[];
  values?: readonly string[];
  alsoTakes?: Flag["alsoTakes"];
}

const wrong = (what: string) => new HoldfastError("invalid", what);

interface Whole extends More {
  argument?: string | undefined;
  optional?: true;
}

function flag<T>(help: string, read: Flag<T>["read"], { spellings = [], ...more }: Whole = {}): Flag<T> {
  const spelt = spellings.map((one) => (typeof one === "string" ? { name: one } : one));
  return { help, read, spellings: spelt, ...more };
}

const last = (given: readonly (string | undefined)[]): string | undefined => given.at(-1);

export const toggle = (help: string, more?: More): Flag<boolean> => flag(help, (given) => given.length > 0, more);

export const text = (argument: string, help: string, more?: More): Flag<string | undefined> =>
  flag(help, last, { argument, ...more });

/** One that is given and empty is a mistake: most often a variable that is not set. */
export const nonEmptyText = (argument: string, help: string, more?: More): Flag<string | undefined> =>
  flag(
    help,
    (given, typed) => {
      const value = last(given);
      if (value?.trim() !== "") return value;
      throw wrong(`${typed} was given nothing (a variable that is not set?): give ${argument}, or leave it out`);
    },
    { argument, ...more },
  );

export const texts = (
  argument: string,
  help: string,
  { split = (one: string) => [one], ...more }: More & { split?: (text: string) => string[] } = {},
): Flag<string[]> => flag(help, (given) => given.flatMap((one) => split(one ?? "")), { argument, ...more });

export const choice = <V extends string>(
  argument: string,
  values: readonly V[],
  help: string,
  more?: More,
): Flag<V | undefined> =>
  flag(
    help,
    (given, typed) => {
      const value = last(given);
      const known = values.find((one) => one === value);
      if (value === undefined || known !== undefined) return known;
      const near = nearestName(value, values);
      throw wrong(`${typed} takes ${values.join(", ")}, not "${value}"${near ? `: did you mean ${near}?` : ""}`);
    },
    { argument, values, ...more },
  );

/** A whole number from 1 on. */
export const count = (argument: string, help: string, more?: More): Flag<number | undefined> =>
  flag(
    help,
    (given, typed) => {
      const value = last(given);
      if (value === undefined) return undefined;
      if (/^[1-9]\d*$/.test(value)) return Number(value);
      throw wrong(`${typed} takes a whole number from 1 on, not "${value}"`);
    },
    { argument, ...more },
  );

const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** In milliseconds. */
export const timeSpan = (argument: string, help: string, more?: More): Flag<number | undefined> =>
  flag(
    help,
    (given, typed) => {
      const value = last(given);
      if (value === undefined) return undefined;
      const [, amount, unit = ""] = /^(\d{1,6})(ms|s|m|h|d)$/.exec(value) ?? [];
      if (amount !== undefined) return Number(amount) * UNITS_MS[unit]!;
      throw wrong(`${typed} takes a time such as 30s, 5m or 1h, not "${value}"`);
    },
    { argument, ...more },
  );

export const dollars = (argument: string, help: string, more?: More): Flag<number | undefined> =>
  flag(
    help,
    (given, typed) => {
      const value = last(given);
      if (value === undefined) return undefined;
      const usd = /^\d*\.?\d+$/.test(value) ? Number(value) : 0;
      if (usd > 0) return usd;
      throw wrong(`${typed} takes US dollars above 0, such as 2.50, not "${value}"`);
    },
    { argument, ...more },
  );

/** An argument that may be left out: "" then. One that is given and empty is a mistake of whoever put the line together. */
export const maybeText = (argument: string, help: string, more?: More): Flag<string | undefined> =>
  flag(
    help,
    (given, typed) => {
      if (given.length === 0) return undefined;
      const value = last(given);
      if (value?.trim() === "") throw wrong(`${typed} was given an empty ${argument}`);
      return value ?? "";
    },
    { argument, optional: true, ...more },
  );

/** What other programs give and this one has no use for yet. `same`: arguments that say what is so anyway. */
export const idle = (
  argument: string | undefined,
  help: string,
  { same = [] }: { same?: readonly string[] } = {},
): Flag<string | undefined> => ({
  ...flag(help, (given, typed) => (given.every((one) => same.includes(one ?? "\0")) ? undefined : typed), { argument }),
  idle: true,
});

/** All spellings of the flag under that key, the one that is shown first. */
export function spellingsOf(key: string, { spellings }: Flag): readonly [Spelling, ...Spelling[]] {
  const own = { name: key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) };
  const [first, ...more] = spellings;
  return first && !first.hidden && first.means === undefined ? [first, ...more] : [own, ...spellings];
}

/** As it is typed: `--only PARTS`, `-r, --resume [CONTEXT]`. */
export function shownFlag(key: string, one: Flag): string {
  const [{ name }] = spellingsOf(key, one);
  const argument = one.argument === undefined ? "" : one.optional ? ` [${one.argument}]` : ` ${one.argument}`;
  return `${one.short ? `-${one.short}, ` : ""}--${name}${argument}`;
}
