// Addresses of servers: what in them is secret, and what they may not say.
import { expect, it } from "vitest";
import { commandLine } from "../../src/front/presentation/command-line.ts";
import { exposureOf, parseRedisUrl } from "../../src/ledger/redis/address.ts";
import { hasPassword } from "../../src/ledger/server-address.ts";

it("a password is seen wherever it stands, and no printed command shows it", () => {
  const secret = [
    "redis://:SPW@h/0?project=p",
    "rediss://u:SPW@h:1/0",
    "redis+sentinel://a:1,b:2/s?project=p&sentinel-password=SPW",
    "redis+sentinel://a:1/s?sentinel%2Dpassword=SPW&project=p",
    "redis://u:S/PW@h/0",
  ];
  for (const address of secret) {
    expect([address, hasPassword(address)]).toEqual([address, true]);
    expect(commandLine(["-c"], { cwd: "/p", state: address })).toBe('holdfast -c --cwd /p --state "$HOLDFAST_STATE"');
  }
  for (const address of ["redis://h:6379/0?project=p", "redis://user@h/0", "redis://h/0?project=a@b:c"])
    expect([address, hasPassword(address)]).toEqual([address, false]);
});

it("certificates without TLS are refused: one letter is missing", () => {
  for (const scheme of ["redis", "redis+sentinel"])
    expect(() => parseRedisUrl(`${scheme}://h/0?project=p&ca=/nonexistent`)).toThrow("write rediss://");
});

it("what others could read or write is said of servers elsewhere alone", () => {
  const of = (address: string) => exposureOf(parseRedisUrl(`${address}?project=p`)).length;
  const near = [
    "redis://localhost",
    "redis://127.0.0.1:1",
    "redis://[::1]:1",
    "redis+sentinel://127.0.0.1,localhost/s",
  ];
  expect(near.map(of)).toEqual([0, 0, 0, 0]);
  const far = ["redis://h", "redis://u:p@h", "rediss://h", "rediss://u:p@h", "redis://127.0.0.1.example.org"];
  expect(far.map(of)).toEqual([2, 1, 1, 0, 2]);
});
