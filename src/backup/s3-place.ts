// A bucket as a place for backups: any S3-compatible server. Requests that fail on the way are tried again; none is conditional.
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { type BackupPlace, largerThan, MOST_BYTES, type PlacedObject, type PlaceOptions } from "./place.ts";

const REQUEST_MS = 60_000;
const TRIES = 6;
const FIRST_PAUSE_MS = 200;
const PAGE = 1_000;

interface Bucket {
  bucket: string;
  /** "" or ends with `/`. */
  prefix: string;
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export async function openS3Place(url: string, opts: PlaceOptions): Promise<BackupPlace> {
  const { bucket, prefix, endpoint, ...access } = bucketOf(url, opts.env ?? process.env);
  const { S3mini } = await import("s3mini");
  const requestAbortTimeout = opts.requestMs ?? REQUEST_MS;
  const client = new S3mini({ ...access, endpoint: `${endpoint}/${bucket}`, requestAbortTimeout });
  const shown = `s3://${bucket}/${prefix}`.replace(/\/$/, "");
  const ask = <T>(what: string, request: () => Promise<T>) =>
    tryAgain(request, { what: `${shown} (${endpoint}): ${what}`, tries: opts.tries ?? TRIES });
  const get = async (name: string, most = MOST_BYTES): Promise<Buffer | undefined> =>
    ask(`${name} cannot be read`, async () => {
      try {
        const response = await client.getObjectRaw(prefix + name);
        return await bodyOf(response, most);
      } catch (error) {
        if (statusOf(error) === 404 && !isNoBucket(error)) return undefined;
        throw error;
      }
    });
  return {
    shown,
    isLocal: false,
    get,
    async put(name, bytes) {
      try {
        await ask(`${name} cannot be written`, () => client.putObject(prefix + name, bytes));
      } catch (error) {
        // Somebody wants writes to be conditional: then what is there is what was to be written.
        if (!(error instanceof HoldfastError) || statusOf(error.cause) !== 412) throw error;
        if ((await get(name))?.length !== bytes.length) throw error;
      }
    },
    async *list(start) {
      for (let token: string | undefined; ; ) {
        const page = await ask("it cannot be listed", () => client.listObjectsPaged("/", prefix + start, PAGE, token));
        if (!page) throw noBucket(shown);
        for (const { Key, Size, LastModified } of page.objects ?? []) {
          const found: PlacedObject = { name: String(Key).slice(prefix.length), bytes: Number(Size), at: 0 };
          yield { ...found, at: new Date(LastModified).getTime() };
        }
        token = page.nextContinuationToken;
        if (!token) return;
      }
    },
    remove: async (name) => void (await ask(`${name} cannot be removed`, () => client.deleteObject(prefix + name))),
  };
}

/** Whatever the answer says of its own length: reading ends there. */
async function bodyOf(response: Response, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > most) throw largerThan(most); // ends the stream, and with it the connection
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Contract: throws `invalid` for one that no request can be sent to, and shows nothing of it; undefined where none is set. */
export function endpointIn(env: NodeJS.ProcessEnv): string | undefined {
  const name = env.AWS_ENDPOINT_URL_S3 ? "AWS_ENDPOINT_URL_S3" : "AWS_ENDPOINT_URL";
  const at = env[name];
  if (!at) return undefined;
  if (!URL.canParse(at) || !/^https?:/.test(at))
    throw new HoldfastError("invalid", `${name} is no address: give one such as https://s3.example.com`);
  const { username, password, search, hash } = new URL(at);
  if (username || password || search || hash)
    throw new HoldfastError(
      "invalid",
      `${name} holds a user, a password or settings, which no request can use: give the address alone, such as https://s3.example.com, and the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  return at;
}

function bucketOf(url: string, env: NodeJS.ProcessEnv): Bucket {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(url) ?? [];
  if (!/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i.test(bucket))
    throw new HoldfastError("invalid", `${url} names no bucket: give s3://BUCKET/PREFIX`);
  const missing = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].filter((name) => !env[name]);
  const endpoint = endpointIn(env);
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION;
  if (!endpoint && !region) missing.push("AWS_REGION (or AWS_ENDPOINT_URL for another service than Amazon's)");
  if (missing.length > 0)
    throw new HoldfastError("invalid", `s3://${bucket} cannot be used: set ${missing.join(" and ")}`);
  if (env.AWS_SESSION_TOKEN)
    throw new HoldfastError("invalid", "AWS_SESSION_TOKEN is set: backups need keys that last; unset it and use those");
  const at = endpoint || `https://s3.${region}.amazonaws.com`;
  const prefix = path.split("/").filter(Boolean).join("/");
  return {
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    endpoint: at.replace(/\/+$/, ""),
    region: region || "auto",
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? "",
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? "",
  };
}

const statusOf = (error: unknown): number | undefined =>
  isRecord(error) || error instanceof Error
    ? "status" in error && typeof error.status === "number"
      ? error.status
      : undefined
    : undefined;

const serviceCodeOf = (error: unknown): string =>
  error instanceof Error && "serviceCode" in error && typeof error.serviceCode === "string" ? error.serviceCode : "";

const isNoBucket = (error: unknown): boolean => serviceCodeOf(error) === "NoSuchBucket";

const noBucket = (shown: string): HoldfastError =>
  new HoldfastError("not_found", `${shown}: there is no such bucket: make it, or give another place`);

/** No answer, or one that says "later". */
function isPassing(status: number | undefined): boolean {
  return (
    status === undefined || status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 507)
  );
}

async function tryAgain<T>(request: () => Promise<T>, { what, tries }: { what: string; tries: number }): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await request();
    } catch (error) {
      if (error instanceof HoldfastError) throw error;
      const status = statusOf(error);
      if (n >= tries || !isPassing(status)) throw failure(what, error, status);
      await sleep(FIRST_PAUSE_MS * 2 ** (n - 1) * (0.5 + Math.random() / 2));
    }
  }
}

function failure(what: string, error: unknown, status: number | undefined): HoldfastError {
  const code = serviceCodeOf(error);
  const said = `${status ?? ""} ${code === "Unknown" ? "" : code}`.trim();
  const of = { cause: error };
  if (status === undefined)
    return new HoldfastError("unreachable", `${what}: no answer (${networkWords(error)}); try again later`, of);
  if (status === 507 || code === "QuotaExceeded")
    return new HoldfastError("disk", `${what}: the bucket is full (${said}); make room there, and try again`, of);
  if (isPassing(status))
    return new HoldfastError("unreachable", `${what}: the server says ${said}; try again later`, of);
  if (status === 404) return new HoldfastError("not_found", `${what}: there is no such bucket (${said}): make it`, of);
  if (status === 401 || status === 403)
    return new HoldfastError("refused", `${what}: refused (${said}): check the keys and what they may do`, of);
  return new HoldfastError("invalid", `${what}: the server says ${said}`, of);
}

/** What lies under `fetch failed`. */
function networkWords(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? networkWords(cause) : messageOf(error);
}
