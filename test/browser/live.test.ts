// From the ledger to the screen: how long an event takes until it can be read, in two tabs at once; and over restarts of the server.
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { makeLongContext } from "../front/monitor/long-context.ts";
import { openMonitor, openWorld } from "../front/monitor/monitor.ts";
import { hasBrowser, openPage } from "./browser.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const EVENTS = LONG ? 200 : 60;
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

test.runIf(hasBrowser)(
  "an event stands on the screen soon after it was recorded, in two tabs",
  { timeout: 90_000 },
  async () => {
    const { store, root } = await openWorld();
    const context = await makeLongContext(store, { root, events: 2_000 });
    const monitor = await openMonitor(store, { root });
    const tabs = [];
    for (let tab = 0; tab < 2; tab++) {
      const { page } = await openPage(monitor, { hash: `#/p/p/c/${context}` });
      await page.getByText("live", { exact: true }).waitFor();
      await page.waitForSelector(".line");
      await page.keyboard.press("End");
      await page.evaluate(WATCH);
      tabs.push(page);
    }
    await sleep(500);
    const written = new Map<number, number>();
    for (let n = 0; n < EVENTS; n++) {
      const data = { origin: "test", text: `stamp-${n}-` };
      await store.append([{ ledger: context, events: [{ type: "note.added", actor: "lead", data }] }]);
      written.set(n, Date.now());
      await sleep(25 + (n % 7) * 5);
    }
    const figures: string[] = [];
    for (const page of tabs) {
      await expect.poll(async () => Object.keys(await stamped(page)).length, { timeout: 20_000 }).toBe(EVENTS);
      const seen = await stamped(page);
      const took = [...written].map(([n, when]) => seen[n]! - when);
      figures.push(`p50 ${at(took, 0.5)} ms, p95 ${at(took, 0.95)} ms, most ${at(took, 1)} ms`);
      expect(at(took, 0.95)).toBeLessThan(MOST_MS);
    }
    console.log(`event to screen, ${EVENTS} events, two tabs at once: ${figures.join("; ")}`);
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
