// The deadline of a lease counts from when its renewal was sent, by whichever of the two clocks says more.
import { expect, it } from "vitest";
import { createLeaseDeadline } from "../../src/ledger/networked/lease-deadline.ts";

function clocks() {
  const now = { monotonic: 1_000, wall: 50_000 };
  return {
    monotonicMs: () => now.monotonic,
    wallMs: () => now.wall,
    pass: (ms: number) => {
      now.monotonic += ms;
      now.wall += ms;
    },
    /** Only wall time goes on while a machine sleeps. */
    sleep: (ms: number) => {
      now.wall += ms;
    },
    setBack: (ms: number) => {
      now.wall -= ms;
    },
  };
}

it("leaves a tenth of the lease before another may take it", () => {
  const time = clocks();
  const deadline = createLeaseDeadline(1_000, time);
  expect(deadline.leftMs()).toEqual(900);
  time.pass(850);
  expect(deadline.leftMs()).toEqual(50);
});

it("counts from the sending of a renewal, not from its answer, and not without one", () => {
  const time = clocks();
  const deadline = createLeaseDeadline(1_000, time);
  time.pass(300);
  const heard = deadline.sending();
  time.pass(200);
  expect(deadline.leftMs()).toEqual(400);
  heard();
  expect(deadline.leftMs()).toEqual(700);
  deadline.sending();
  time.pass(300);
  expect(deadline.leftMs()).toEqual(400);
});

it("is not brought back by an old answer that comes late", () => {
  const time = clocks();
  const deadline = createLeaseDeadline(1_000, time);
  const first = deadline.sending();
  time.pass(400);
  deadline.sending()();
  first();
  expect(deadline.leftMs()).toEqual(900);
});

it("passes while the machine sleeps, and is not put off by a clock that is set back", () => {
  const time = clocks();
  const slept = createLeaseDeadline(1_000, time);
  time.sleep(5_000);
  expect(slept.leftMs()).toBeLessThan(0);
  const turned = createLeaseDeadline(1_000, time);
  time.setBack(60_000);
  time.pass(1_000);
  expect(turned.leftMs()).toBeLessThan(0);
});

it("tells once that it has passed", async () => {
  let times = 0;
  await new Promise<void>((resolve) => {
    createLeaseDeadline(30).watch(() => {
      times++;
      resolve();
    });
  });
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(times).toEqual(1);
});
