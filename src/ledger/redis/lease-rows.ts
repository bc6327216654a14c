// The rows of leases in Redis, changed by compare-and-set on term, token and renewals.
import { holderIn } from "../holder.ts";
import type { LeaseRow, LeaseRows } from "../leases.ts";
import { patienceOf } from "../networked/until-known.ts";
import type { Holder } from "../store.ts";
import type { RedisLink } from "./link.ts";
import { fieldsOf } from "./reading.ts";

const NONE = ["", "", ""];

/** A change that takes longer than the lease itself is of no use. */
export function redisLeaseRows(link: RedisLink, { leaseMs }: { leaseMs: number }): LeaseRows {
  const read = async (name: string) =>
    leaseRowOf(link, name, fieldsOf(await link.command(["HGETALL", `${link.prefix}lease:${name}`])));
  return {
    read,
    async change(name, decide) {
      const leftMs = patienceOf(leaseMs);
      for (;;) {
        const before = await read(name);
        const next = decide(before);
        if (!next) return false;
        const { term, token, renewals, holder, expiresAt, leaseMs: lasts = leaseMs } = next;
        const args = [
          ...[link.prefix, name],
          ...(before ? leaseMark(before) : NONE),
          ...[String(term), token, String(renewals)],
          ...[
            holder === null ? "" : JSON.stringify(holder),
            String(expiresAt),
            String(lasts),
            link.replicas > 0 ? "1" : "0",
          ],
        ];
        const answer = await link.step("changeLease", args, { leftMs, confirmed: true });
        if (String(answer) === "changed") return true;
      }
    },
  };
}

export const leaseMark = ({ mark }: MarkedRow): string[] => mark;

/** A row, and what it is known by when it is to be changed: as it stands there, whatever that is. */
export interface MarkedRow extends LeaseRow {
  mark: string[];
}

/** Nobody that can be looked at: whoever it is keeps the lease until it was seen unchanged for as long as it lasts. */
const SOMEBODY: Holder = { machine: "unknown", boot: "unknown", pid: 0, startedAt: "unknown", interactive: false };

function leaseRowOf(link: RedisLink, name: string, fields: Record<string, string>): MarkedRow | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  const { term = "", token = "", renewals = "", holder, expires, lasts } = fields;
  const row = {
    ...{ name, term: numberIn(term) ?? 0, token, renewals: numberIn(renewals) ?? 0 },
    ...{ expiresAt: numberIn(expires) ?? 0, mark: [term, token, renewals] },
    ...(numberIn(lasts) !== undefined && { leaseMs: Number(lasts) }),
  };
  if (holder === "") return { ...row, holder: null };
  const problem = leaseProblem(name, fields);
  if (problem !== undefined) link.passedOver(problem);
  return { ...row, holder: problem === undefined ? (holderOf(holder) ?? SOMEBODY) : SOMEBODY };
}

/** What is wrong with a row as it is stored, if anything. */
export function leaseProblem(name: string, { term, token, renewals, holder }: Record<string, string>) {
  const isRead = [term, renewals].every((one) => numberIn(one) !== undefined) && token !== undefined;
  return isRead && (holder === "" || holderOf(holder)) ? undefined : `the lease ${JSON.stringify(name)} cannot be read`;
}

function holderOf(text: string | undefined): Holder | undefined {
  try {
    return holderIn(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}

const numberIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** The bounds of names that begin so, as the server takes them: no byte of UTF-8 is as large as 0xff. */
export const namesFrom = (prefix: string): [from: string, to: Buffer] => [
  `[${prefix}`,
  Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)]),
];

export async function leaseRowsFrom(link: RedisLink, prefix: string): Promise<MarkedRow[]> {
  const rows = await storedLeases(link, prefix);
  return rows.flatMap(({ name, fields }) => leaseRowOf(link, name, fields) ?? []);
}

/** As they are stored. */
export async function storedLeases(link: RedisLink, prefix: string) {
  const answer = await link.step("leases", [link.prefix, ...namesFrom(prefix)]);
  const all: unknown[] = Array.isArray(answer) ? answer : [];
  return all.flatMap((one) => (Array.isArray(one) ? [{ name: String(one[0]), fields: fieldsOf(one[1]) }] : []));
}
