// The question to the Sentinels which server is the master now.
import { LostAnswer } from "../networked/until-known.ts";
import type { Endpoint, RedisAddress } from "./address.ts";
import { connectRedis } from "./connection.ts";

/** One that is cut off does not answer at all: the next one is asked soon. */
const EACH_MS = 1_000;

type FindMaster = (withinMs: number) => Promise<Endpoint>;

/** Contract: gives the address itself where there are no Sentinels; throws `LostAnswer` where none of them knows. */
export function createMasterFinder(address: RedisAddress): FindMaster {
  let sentinels = address.endpoints;
  return async (withinMs) => {
    const [only] = sentinels;
    if (address.sentinelName === undefined && only) return only;
    let last: unknown;
    let isHeard = false;
    for (const sentinel of sentinels) {
      try {
        const found = await askSentinel(address, sentinel, Math.min(withinMs, EACH_MS));
        isHeard = true;
        if (!found) continue;
        sentinels = [sentinel, ...sentinels.filter((other) => other !== sentinel)]; // asked first from now on
        return found;
      } catch (error) {
        last = error; // the next one may be there
        isHeard ||= !(error instanceof LostAnswer && error.nobodyListens);
      }
    }
    const why = `no Sentinel knows the master of ${address.sentinelName}`;
    throw new LostAnswer(why, { cause: last, nobodyListens: !isHeard });
  };
}

async function askSentinel(address: RedisAddress, at: Endpoint, withinMs: number): Promise<Endpoint | undefined> {
  const connection = await connectRedis(address, at, { withinMs, password: address.sentinelPassword });
  try {
    const name = address.sentinelName ?? "";
    const answer = await connection.call(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name], { hangMs: withinMs });
    if (!Array.isArray(answer)) return undefined;
    return { host: String(answer[0]), port: Number(answer[1]) };
  } finally {
    connection.close();
  }
}
