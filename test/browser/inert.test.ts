// Every view of a store that somebody hostile wrote, in a real browser: text is shown as text, nothing runs, nobody else is asked.
import fs from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { CONTEXT_VIEWS } from "../../src/front/monitor/page/router.ts";
import { makeHostileStore, RAN, SHOWN } from "../front/monitor/hostile-store.ts";
import { openMonitor, openWorld } from "../front/monitor/monitor.ts";
import { hasBrowser, openPage } from "./browser.ts";

/** What the page itself never makes. */
const INJECTED = [
  ...[
    "script:not([src='/app.js'])",
    "iframe",
    "object",
    "embed",
    "style",
    "base",
    "form[action]",
    "img:not([src^='data:'])",
  ],
  ...["[onerror]", "[onload]", "[onclick]", "[srcdoc]", "[href^='javascript']", "a[href*='evil.example']"],
].join(",");

/** A string, for the page: where it stands, nobody may evaluate a text. */
const LOOK = `({
  ran: String(window[${JSON.stringify(RAN)}]),
  injected: [...document.querySelectorAll(${JSON.stringify(INJECTED)})].map((one) => one.outerHTML.slice(0, 200)),
  shown: document.body.textContent.split(${JSON.stringify(SHOWN)}).length - 1,
  unsafe: /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent),
})`;

interface Looked {
  ran: string;
  injected: string[];
  shown: number;
  unsafe: boolean;
}

/** A stream never rests: time for what is asked once. */
const settled = (page: Page): Promise<void> => page.waitForTimeout(250);

test.runIf(hasBrowser)("whatever stands in a ledger is shown as text in every view", { timeout: 120_000 }, async () => {
  const { store, root: outside } = await openWorld();
  const root = path.join(outside, `<img src=x onerror=${RAN}=1> \u001b[31m\u202e${SHOWN}`);
  fs.mkdirSync(root);
  const [all, ...others] = await makeHostileStore(store, root);
  const monitor = await openMonitor(store, { root });
  // What cannot be answered is said with a status: the browser notes that by itself.
  const tolerates = [/^error: Failed to load resource: the server responded with a status of 4\d\d/];
  const { page } = await openPage(monitor, { tolerates });
  const addresses = [
    ...["#/", "#/p/p"],
    ...CONTEXT_VIEWS.map((view) => `#/p/p/c/${all}?view=${view}`),
    ...[20, 60, 200].map((seq) => `#/p/p/c/${all}?seq=${seq}`),
    ...others.map((context) => `#/p/p/c/${context}`),
  ];
  const seen: Record<string, number> = {};
  for (const address of addresses) {
    await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
    await page.waitForSelector("main");
    await settled(page);
    const looked = await page.evaluate<Looked>(LOOK);
    expect([address, { ...looked, shown: 0 }]).toEqual([
      address,
      { ran: "undefined", injected: [], shown: 0, unsafe: false },
    ]);
    seen[address.replace(all ?? "", "…")] = looked.shown;
  }
  console.log(JSON.stringify(seen));
  expect(seen["#/"]).toBeGreaterThan(3);
  expect(seen["#/p/p/c/…?view=transcript"]).toBeGreaterThan(10);
});

test.runIf(hasBrowser)("each event that is opened shows its texts as text", { timeout: 120_000 }, async () => {
  const { store, root } = await openWorld();
  const [all] = await makeHostileStore(store, root);
  const monitor = await openMonitor(store, { root });
  const { page } = await openPage(monitor, { hash: `#/p/p/c/${all}` });
  await page.waitForSelector("[role=grid], .line");
  await page.getByRole("button", { name: /^other/ }).click();
  await settled(page);
  const rows = page.locator(".line");
  const count = Math.min(25, await rows.count());
  expect(count).toBeGreaterThan(5);
  for (let i = 0; i < count; i++) {
    await rows
      .nth(i)
      .click({ timeout: 2_000 })
      .catch(() => undefined); // it may have been drawn anew just then
    await page.waitForTimeout(60);
    const { ran, injected, unsafe } = await page.evaluate<Looked>(LOOK);
    expect([i, ran, injected, unsafe]).toEqual([i, "undefined", [], false]);
  }
});
