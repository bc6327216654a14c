// The question to the Sentinels which server is the master now.
import { LostAnswer } from "../networked/until-known.ts";
import type { Endpoint, RedisAddress } from "./address.ts";
import { connectRedis } from "./connection.ts";

/** Contract: without Sentinels the address itself; throws `LostAnswer` where none of them knows. */
export async function findMaster(address: RedisAddress, withinMs: number): Promise<Endpoint> {
  const [only] = address.endpoints;
  if (address.sentinelName === undefined && only) return only;
  let last: unknown;
  for (const sentinel of address.endpoints) {
    try {
      const found = await askSentinel(address, sentinel, withinMs);
      if (found) return found;
    } catch (error) {
      last = error; // the next one may be there
    }
  }
  throw new LostAnswer(`no Sentinel knows the master of ${address.sentinelName}`, { cause: last });
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
