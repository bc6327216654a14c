// Backups in a bucket: what a server may answer, and what is said when it does not.
import { describe, expect, it, onTestFinished } from "vitest";
import { runDrill } from "../../src/backup/drill.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { openPlace, type PlaceOptions } from "../../src/backup/place.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { openVault, projectsIn } from "../../src/backup/vault.ts";
import { type Bucket, startBucket } from "./bucket.ts";
import { contentsOf, fill, headsIn, objectsIn, openStoreOf, ROOT } from "./world.ts";

const open = () => openStoreOf("sqlite", onTestFinished);
const vaultIn = async ({ url, env }: Bucket, more: PlaceOptions = {}) =>
  openVault(await openPlace(url, { env, write: true, ...more }), "project-1", undefined);

describe("a backup in a bucket", () => {
  it("is made, restored and drilled as one in a folder", async () => {
    const bucket = await startBucket(onTestFinished);
    const store = await open();
    await fill(store);
    const vault = await vaultIn(bucket);
    await makeBackup({ store, vault, path: ROOT });
    const wanted = await contentsOf(store);
    const to = await open();
    await restoreBackup({ vault: await vaultIn(bucket), to, path: ROOT });
    expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, same: 4 });
    expect(await projectsIn(vault.place)).toEqual(["project-1"]);
  });

  it("lists more objects than one page of them", async () => {
    const bucket = await startBucket(onTestFinished);
    const place = await openPlace(bucket.url, { env: bucket.env });
    const names = Array.from({ length: 1_050 }, (_, i) => `many/${String(i).padStart(5, "0")}`);
    for (let i = 0; i < names.length; i += 50)
      await Promise.all(names.slice(i, i + 50).map((name) => place.put(name, Buffer.from(name))));
    expect(await objectsIn(place)).toEqual(names);
    await place.remove(names[0]!);
    await place.remove("never was");
    expect([(await objectsIn(place)).length, await place.get(names[0]!), String(await place.get(names[1]!))]).toEqual([
      names.length - 1,
      undefined,
      names[1],
    ]);
  });

  it("comes through a server that cuts connections and says 503 half of the time", async () => {
    const bucket = await startBucket(onTestFinished);
    const store = await open();
    await fill(store, { contexts: 2, events: 6 });
    let n = 0;
    const faults = ["cut before", "pass", 503, "pass", "cut after", "pass", 500, "pass"] as const;
    bucket.fault = () => faults[n++ % faults.length]!;
    const vault = await vaultIn(bucket, { tries: 12 });
    await makeBackup({ store, vault, path: ROOT });
    const wanted = await contentsOf(store);
    const to = await open();
    await restoreBackup({ vault, to, path: ROOT });
    expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
  });

  it("is not harmed by 412 for what is there already", async () => {
    const bucket = await startBucket(onTestFinished);
    const store = await open();
    await fill(store, { contexts: 1, events: 6 });
    const vault = await vaultIn(bucket);
    await makeBackup({ store, vault, path: ROOT });
    const there = new Set(bucket.requests.filter(({ method }) => method === "PUT").map((one) => one.path));
    bucket.fault = (method, at) => (method === "PUT" && there.has(at) ? 412 : "pass");
    const { report } = await makeBackup({ store, vault: await vaultIn(bucket), path: ROOT, anew: true });
    expect(report.manifest).toBeDefined();
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true });
  });

  it("says so when 412 is said for what is not there, and the last backup stays whole", async () => {
    const bucket = await startBucket(onTestFinished);
    const store = await open();
    await fill(store, { contexts: 1, events: 6 });
    await makeBackup({ store, vault: await vaultIn(bucket), path: ROOT });
    const wanted = await contentsOf(store);
    await fill(store, { contexts: 1, events: 6 });
    bucket.fault = (method) => (method === "PUT" ? 412 : "pass");
    await expect(makeBackup({ store, vault: await vaultIn(bucket), path: ROOT })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("the server says 412"),
    });
    const to = await open();
    await restoreBackup({ vault: await vaultIn(bucket), to, path: ROOT });
    expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
  });

  it.each([
    [507, "disk", /the bucket is full \(507 .*\); make room there/],
    [503, "unreachable", /the server says 503.*; try again later/],
    [403, "refused", /refused \(403.*\): check the keys/],
  ] as const)("that meets %i says what to do, and the next one goes on", async (status, code, says) => {
    const bucket = await startBucket(onTestFinished);
    const store = await open();
    await fill(store, { contexts: 2, events: 6 });
    let puts = 0;
    bucket.fault = (method) => (method === "PUT" && ++puts > 2 ? status : "pass");
    const failed = makeBackup({ store, vault: await vaultIn(bucket, { tries: 2 }), path: ROOT });
    await expect(failed).rejects.toMatchObject({ code, message: expect.stringMatching(says) });
    bucket.fault = () => "pass";
    await makeBackup({ store, vault: await vaultIn(bucket), path: ROOT });
    expect(await runDrill({ vault: await vaultIn(bucket), store, path: ROOT })).toMatchObject({ ok: true, same: 3 });
  });

  it("that cannot reach its server says so, and where it looked", async () => {
    const bucket = await startBucket(onTestFinished);
    const store = await open();
    await fill(store, { contexts: 1, events: 4 });
    bucket.fault = () => "cut before";
    await expect(makeBackup({ store, vault: await vaultIn(bucket, { tries: 2 }), path: ROOT })).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining(bucket.env.AWS_ENDPOINT_URL!),
    });
  });
});

describe("a place", () => {
  it("says which variable is missing, and what it takes", async () => {
    const said = async (given: string, env: Record<string, string> = {}) =>
      openPlace(given, { env }).then(
        () => "opened",
        (error: Error) => error.message,
      );
    const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
    expect(await said("s3://bucket/x")).toMatch(/AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and AWS_REGION/);
    expect(await said("s3://bucket/x", keys)).toMatch(/AWS_REGION \(or AWS_ENDPOINT_URL .*\)/);
    expect(await said("s3://bucket/x", { ...keys, AWS_REGION: "eu-central-1" })).toEqual("opened");
    expect(await said("s3://bucket/x", { ...keys, AWS_ENDPOINT_URL: "nonsense" })).toMatch(/is no address/);
    expect(await said("s3:///x", keys)).toMatch(/names no bucket/);
    expect(await said("gs://bucket")).toMatch(/gs:\/\/ is no place for backups/);
    expect(await said("/nowhere/at/all")).toMatch(/is not there/);
  });

  it("that is missing as a bucket is said to be", async () => {
    const bucket = await startBucket(onTestFinished);
    const place = await openPlace("s3://another-bucket/x", { env: bucket.env });
    await expect(place.put("a", Buffer.from("a"))).rejects.toMatchObject({ code: "not_found" });
    await expect(objectsIn(place)).rejects.toMatchObject({ code: "not_found" });
  });

  it("refuses keys that the server does not know, and says what to check", async () => {
    const bucket = await startBucket(onTestFinished);
    const place = await openPlace(bucket.url, { env: { ...bucket.env, AWS_ACCESS_KEY_ID: "SOMEBODY" } });
    await expect(place.put("a", Buffer.from("a"))).rejects.toMatchObject({
      code: "refused",
      message: expect.stringMatching(/refused \(403 InvalidAccessKeyId\): check the keys/),
    });
  });
});
