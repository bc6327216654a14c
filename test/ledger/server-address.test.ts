// Addresses of servers: what in them is secret, and what they may not say.
import { expect, it } from "vitest";
import { openHome } from "../../src/contexts/project.ts";
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

/** What is said of it where a place for state is given, or when it is opened. */
function refusal(address: string): string {
  try {
    openHome({ state: address, env: { HOME: "/nowhere" } });
    parseRedisUrl(address);
  } catch (error) {
    return (error as Error).message;
  }
  return "taken";
}

it("a password in which an @, / or ? is not written as it should be is refused, and nothing of it is shown", () => {
  for (const place of [
    "redis://:SEC@RET@127.0.0.1:1/0",
    "redis://SEC@RET:x@h/0",
    "redis://u:SEC/RET@h/0",
    "redis://u:12/RET@h",
    "redis://u:12?RET@h/0",
    "redis+sentinel://u:12/RET@h",
    "redis+sentinel://:SEC@RET@a:1,b:2/service",
  ]) {
    const said = refusal(`${place}?project=api`);
    expect([place, said.includes("write @ as %40"), /SEC|RET/.test(said)]).toEqual([place, true, false]);
  }
  expect(parseRedisUrl("redis://:SEC%40RET@h/0?project=p")).toMatchObject({
    ...{ password: "SEC@RET", endpoints: [{ host: "h", port: 6379 }], shown: "redis://h/0?project=p" },
  });
});

it("hosts have the characters of hosts, ports their range, a % its code, each setting one value", () => {
  const said = [
    "redis://ho$t/0?project=p",
    "redis://h:99999/0?project=p",
    "redis://h:0/0?project=p",
    "redis://user:p%zz@h/0?project=p",
    "redis+sentinel://h/s%zz?project=p",
    "redis://h/0?project=a&project=b",
  ].map(refusal);
  expect(said.map((one) => /^this is no address of a Redis store \((.*?)\): write redis:/.exec(one)?.[1])).toEqual([
    "a host is missing or not understood",
    ...Array(2).fill("a port is a number from 1 to 65535"),
    ...Array(2).fill("in user, password and SERVICE write % as %25"),
    "project= stands in it twice",
  ]);
});

it("what looks like a server and is none is no folder, and is not shown", () => {
  const like = ["rediss//:SECRET@host/0", "redis;//:SECRET@host", "redis ://:SECRET@h", "redis.:SECRET@host/0"];
  for (const given of [...like, ":SECRET@host:6379/0", "//:SECRET@host:6379", "default:SECRET@host:1?project=p"])
    expect([given, refusal(given)]).toEqual([
      given,
      "the state is to be at what looks like an address and is none: write redis://, rediss:// or redis+sentinel://, with a colon and two slashes; a directory begins with / or ./",
    ]);
  const folder = (state: string) => openHome({ state, env: {} }).home;
  const folders = ["/a/u@host:22/state", "./a//b", "../x@y:1", "/a//b", "state", "my@folder", "sqlite://x/y.db"];
  expect(folders.map((one) => typeof folder(one))).toEqual(folders.map(() => "string"));
});
