// From the ledger to the screen: how long an event takes until it can be read, in two tabs at once; and over restarts of the server.
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Store } from "../../src/ledger/store.ts";
import { makeLongContext } from "../front/monitor/long-context.ts";
import { openMonitor, openWorld, type TestMonitor } from "../front/monitor/monitor.ts";
import { hasBrowser, openPage } from "./browser.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const EVENTS = LONG ? 200 : 40;
const MOST_MS = LONG ? 100 : 1_000;

/** Notes when a stamp first stands on the page. */
const WATCH = `window.stamped = {};
  new MutationObserver(() => {
    const now = Date.now();
    for (const [, n] of document.body.textContent.matchAll(/stamp-(\\d+)-/g)) window.stamped[n] ??= now;
  }).observe(document.body, { childList: true, subtree: true, characterData: true });`;

const stamped = (page: Page) => page.evaluate<Record<string, number>>("window.stamped");

const at = (all: readonly number[], share: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0;

/** A tab at the end of that context, which notes what comes. */
async function openTab(monitor: TestMonitor, context: string): Promise<Page> {
  const { page } = await openPage(monitor, { hash: `#/p/p/c/${context}` });
  await page.getByText("live", { exact: true }).waitFor();
  await page.waitForSelector(".line");
  await page.keyboard.press("End");
  await page.evaluate(WATCH);
  return page;
}

interface Stretch {
  context: string;
  from: number;
}

/** How long each of so many events takes, in each tab. */
async function timed(store: Store, tabs: readonly Page[], { context, from }: Stretch): Promise<number[][]> {
  const written = new Map<number, number>();
  for (let n = from; n < from + EVENTS; n++) {
    const data = { origin: "test", text: `stamp-${n}-` };
    await store.append([{ ledger: context, events: [{ type: "note.added", actor: "lead", data }] }]);
    written.set(n, Date.now());
    await sleep(25 + (n % 7) * 5);
  }
  const found: number[][] = [];
  for (const page of tabs) {
    const missing = () => [...written.keys()].filter((n) => !(n in seen)).length;
    let seen = await stamped(page);
    while (missing() > 0) {
      await sleep(20);
      seen = await stamped(page);
    }
    found.push([...written].map(([n, when]) => seen[n]! - when));
  }
  return found;
}

test.runIf(hasBrowser)(
  "an event stands on the screen soon after it was recorded, in one tab and in two",
  {
    timeout: 90_000,
  },
  async () => {
    const { store, root } = await openWorld();
    const context = await makeLongContext(store, { root, events: 2_000 });
    const monitor = await openMonitor(store, { root });
    const figures = (all: readonly number[]) =>
      `p50 ${at(all, 0.5)} ms, p95 ${at(all, 0.95)} ms, most ${at(all, 1)} ms`;
    const first = await openTab(monitor, context);
    await sleep(500);
    const [alone = []] = await timed(store, [first], { context, from: 0 });
    const second = await openTab(monitor, context);
    await sleep(500);
    const both = await timed(store, [first, second], { context, from: EVENTS });
    console.log(`event to screen, ${EVENTS} events: ${figures(alone)}; in two tabs: ${both.map(figures).join("; ")}`);
    expect(at(alone, 0.95)).toBeLessThan(MOST_MS);
    for (const tab of both) expect(at(tab, 0.95)).toBeLessThan(3 * MOST_MS);
  },
);

test.runIf(hasBrowser)(
  "a page that is open goes on by itself when its server is started again",
  { timeout: 90_000 },
  async () => {
    const { store, root } = await openWorld();
    const context = await makeLongContext(store, { root, events: 200 });
    let monitor = await openMonitor(store, { root });
    const { port } = monitor;
    // A server that is not there is noted by the browser itself.
    const tolerates = [/ERR_CONNECTION_(?:REFUSED|RESET)|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE/];
    const { page } = await openPage(monitor, { hash: `#/p/p/c/${context}`, tolerates });
    await page.getByText("live", { exact: true }).waitFor();
    await page.waitForSelector(".line");
    await page.keyboard.press("End");
    await page.evaluate(WATCH);
    const restarts = LONG ? 20 : 4;
    for (let n = 0; n < restarts; n++) {
      await monitor.close();
      const data = { origin: "test", text: `stamp-${n}-` };
      await store.append([{ ledger: context, events: [{ type: "note.added", actor: "lead", data }] }]);
      monitor = await openMonitor(store, { root, port });
      await expect.poll(async () => (await stamped(page))[n], { timeout: 20_000 }).toBeDefined();
    }
    // Each once, and in order.
    const shown = await page.evaluate<string[]>(
      `[...document.querySelectorAll(".line")].flatMap((one) => one.textContent.match(/stamp-\\d+-/) ?? [])`,
    );
    expect(shown).toEqual(Array.from({ length: restarts }, (_, n) => `stamp-${n}-`));
  },
);
