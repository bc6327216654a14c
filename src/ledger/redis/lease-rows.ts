// The rows of leases in Redis, changed by compare-and-set on term, token and renewals.
import type { LeaseRow, LeaseRows } from "../leases.ts";
import { patienceOf } from "../networked/until-known.ts";
import { damagedHere } from "./entries.ts";
import type { RedisLink } from "./link.ts";
import { fieldsOf } from "./reading.ts";

const NONE = ["", "", ""];

/** A change that takes longer than the lease itself is of no use. */
export function redisLeaseRows(link: RedisLink, { leaseMs }: { leaseMs: number }): LeaseRows {
  const read = async (name: string) =>
    leaseRowOf(name, fieldsOf(await link.command(["HGETALL", `${link.prefix}lease:${name}`])));
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

export const leaseMark = ({ term, token, renewals }: LeaseRow): string[] => [String(term), token, String(renewals)];

function leaseRowOf(name: string, fields: Record<string, string>): LeaseRow | undefined {
  const { term, token, renewals, holder, expires, lasts } = fields;
  if (term === undefined) return undefined;
  if (token === undefined || renewals === undefined || holder === undefined)
    throw damagedHere({ what: `the lease ${name} cannot be read` });
  return {
    ...{ name, term: Number(term), token, renewals: Number(renewals), expiresAt: Number(expires) },
    holder: holder === "" ? null : JSON.parse(holder),
    ...(lasts !== undefined && { leaseMs: Number(lasts) }),
  };
}

/** The bounds of names that begin so, as the server takes them: no byte of UTF-8 is as large as 0xff. */
export const namesFrom = (prefix: string): [from: string, to: Buffer] => [
  `[${prefix}`,
  Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)]),
];

export async function leaseRowsFrom(link: RedisLink, prefix: string): Promise<LeaseRow[]> {
  const answer = await link.step("leases", [link.prefix, ...namesFrom(prefix)]);
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((one) => {
    if (!Array.isArray(one)) return [];
    const row = leaseRowOf(String(one[0]), fieldsOf(one[1]));
    return row ? [row] : [];
  });
}
