// One context in a real browser: a long one opens quickly, scrolls without a halt, stays small, and any moment of it is looked at.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { makeLongContext } from "../front/monitor/long-context.ts";
import { openMonitor, openWorld } from "../front/monitor/monitor.ts";
import { makeWaiting } from "../front/monitor/waiting.ts";
import { seriousIn } from "./axe.ts";
import { hasBrowser, openPage } from "./browser.ts";

const isLong = process.env.HOLDFAST_LONG === "1";
const EVENTS = isLong ? 50_000 : 5_000;
/** The bounds of a quiet machine; in the normal run with room for a busy one. */
const BOUNDS = isLong
  ? { opensMs: 1_500, taskMs: 50, heapBytes: 150e6, scrubMs: 150 }
  : { opensMs: 6_000, taskMs: 400, heapBytes: 150e6, scrubMs: 2_000 };
const SCRUBS = isLong ? 100 : 10;

async function longContext(events: number) {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events });
  const monitor = await openMonitor(store, { root });
  return { store, root, context, monitor, hash: `#/p/p/c/${context}` };
}

/** From the top to the bottom in so many frames: the longest time in which nothing else could be done. */
const scrollThrough = (page: Page, frames: number): Promise<{ longest: number; rows: number }> =>
  page.evaluate(`(async () => {
    let longest = 0;
    let rows = 0;
    const seen = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    });
    seen.observe({ type: "longtask" });
    const list = document.querySelector(".virtual-list");
    for (let n = 0; n <= ${frames}; n++) {
      list.scrollTop = (list.scrollHeight * n) / ${frames};
      await new Promise((resolve) => requestAnimationFrame(resolve));
      rows = Math.max(rows, document.querySelectorAll("[role=option]").length);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    seen.disconnect();
    return { longest, rows };
  })()`);

/** How long until the whole view is as of that event. */
const scrubTo = (page: Page, seq: number): Promise<number> =>
  page.evaluate(`(async () => {
    const slider = document.querySelector(".scrubber input");
    const start = performance.now();
    slider.value = "${seq}";
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const isThere = () =>
      document.querySelector(".context").dataset.at === "${seq}" &&
      document.querySelector(".line.selected")?.getAttribute("aria-posinset") === "${seq}";
    while (!isThere() && performance.now() - start < 10_000)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - start;
  })()`);

/** Asked from outside: the page's policy lets nobody evaluate a text inside. */
const until = (page: Page, holds: string) =>
  expect.poll(() => page.evaluate(holds), { timeout: 15_000, message: holds }).toBe(true);

describe.runIf(hasBrowser)("one context on the page", () => {
  test(`${EVENTS} events open, scroll and scrub without being noticed`, { timeout: 240_000 }, async () => {
    const { monitor, hash } = await longContext(EVENTS);
    const { page } = await openPage(monitor, { hash });
    await page.waitForSelector(".line");
    const opens = await page.evaluate<number>("performance.now()");
    const passes = [];
    for (let n = 0; n < (isLong ? 3 : 1); n++) passes.push(await scrollThrough(page, isLong ? 600 : 120));
    // What is the page's own fault is there each time; what another process took is not.
    const longest = Math.min(...passes.map((pass) => pass.longest));
    const rows = Math.max(...passes.map((pass) => pass.rows));
    // The first one waits until the whole ledger was read once.
    const first = await scrubTo(page, 1);
    const scrubs: number[] = [];
    for (let n = 0; n < SCRUBS; n++) scrubs.push(await scrubTo(page, 1 + Math.floor(Math.random() * (EVENTS - 1))));
    const heap = await page.evaluate<number>("performance.memory.usedJSHeapSize");
    const sorted = scrubs.toSorted((a, b) => a - b);
    const p95 = sorted[Math.floor(sorted.length * 0.95)]!;
    const measured = { opensMs: opens, taskMs: longest, heapBytes: heap, scrubMs: p95 };
    console.log(JSON.stringify({ events: EVENTS, ...measured, rows, firstScrubMs: first }));
    const over = Object.entries(measured).filter(([name, value]) => value > BOUNDS[name as keyof typeof BOUNDS]);
    expect({ over, rowsAreFew: rows > 10 && rows <= 300 }).toEqual({ over: [], rowsAreFew: true });
  });

  test("a moment is looked at by keys alone, and left again", async () => {
    const { monitor, hash } = await longContext(400);
    const { page } = await openPage(monitor, { hash });
    await page.waitForSelector(".line");
    await page.keyboard.press("[");
    await page.waitForSelector(".context[data-at]");
    await page.getByRole("slider").focus();
    const before = await page.getByRole("slider").inputValue();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.waitForSelector(`.context[data-at="${Number(before) - 2}"]`);
    expect(await page.locator(".line.selected").getAttribute("aria-posinset")).toBe(String(Number(before) - 2));
    expect(await page.getByRole("slider").getAttribute("aria-valuetext")).toMatch(/^event \d+ of 400, /);
    await until(page, `location.hash.endsWith("seq=${Number(before) - 2}")`);
    await page.keyboard.press("2");
    await page.waitForSelector(".timeline-canvas canvas");
    expect(await page.getByRole("tab", { selected: true }).textContent()).toBe("Timeline");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".context:not(.past)");
    await until(page, `!location.hash.includes("seq=")`);
  });

  test("an address with a moment opens there; a fork, a restore and a fixture begin from it", async () => {
    const { monitor, hash, root, context } = await longContext(400);
    const { page } = await openPage(monitor, { hash: `${hash}?seq=250` });
    await page.waitForSelector('.context[data-at="250"]');
    expect(await page.locator(".context-head .facts code").textContent()).toBe(context);
    expect(await page.locator("[role=option]").last().getAttribute("aria-posinset")).toBe("250");
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as test" }).click();
    expect((await saving).suggestedFilename()).toMatch(/^ctx_.*\.jsonl$/);
    await page.getByRole("button", { name: "Fork here" }).click();
    const link = page.locator(".forked a");
    await link.waitFor();
    expect(await page.locator(".forked code").textContent()).toBe(
      `holdfast -p -r ${await link.textContent()} --cwd ${root} "…"`,
    );
    await page.getByRole("button", { name: "Restore here…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Restore", exact: true }).click();
    await dialog.getByText(/^back at prompt/).waitFor();
    await dialog.getByRole("button", { name: "Undo" }).click();
    await dialog.getByText(/^undone: back at before restoring/).waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    // What was done is seen at once: the page is at now again.
    await page.waitForSelector(".context:not(.past)");
    await page.waitForSelector(".line.left");
    await link.waitFor({ state: "detached" });
  });

  test("what happens is added while the reader is at the end, and announced where they are not", async () => {
    const { monitor, hash, store, context } = await longContext(400);
    const { page } = await openPage(monitor, { hash });
    await page.waitForSelector(".line");
    const note = (text: string) =>
      store.append([
        { ledger: context, events: [{ type: "note.added", actor: "lead", data: { origin: "hook", text, id: text } }] },
      ]);
    await note("first");
    await page.locator(".line").filter({ hasText: "first" }).waitFor();
    await page.evaluate('document.querySelector(".virtual-list").scrollTop = 0');
    await page.locator(".line[aria-posinset='1']").waitFor();
    await note("second");
    await page.getByRole("button", { name: "1 new row" }).click();
    await page.locator(".line").filter({ hasText: "second" }).waitFor();
  });

  test("what a context asks is answered in its head", async () => {
    const { store, root } = await openWorld();
    const { context } = await makeWaiting(store, { root, title: "asks", commands: ["npm test"] });
    const monitor = await openMonitor(store, { root });
    const { page } = await openPage(monitor, { hash: `#/p/p/c/${context}` });
    const card = page.locator(".context-head [data-need]");
    await card.waitFor();
    // A line, until it is opened: the view below is what was asked for.
    expect(await card.getByRole("button", { name: "Allow once" }).count()).toBe(0);
    await card.getByRole("button", { name: "answer" }).focus();
    // What is not seen is not answered: it is opened.
    await page.keyboard.press("a");
    await card.getByRole("button", { name: "Allow once" }).waitFor();
    // A card is not answered before it can have been read.
    await page.waitForTimeout(600);
    await card.getByRole("button", { name: "Allow once" }).click();
    await card.waitFor({ state: "detached" });
    await page.locator(".line-approval").filter({ hasText: "allowed from the monitor page" }).waitFor();
  });

  test("the keys that are listed beside the requests are those that do something there", async () => {
    const { monitor, hash } = await longContext(400);
    const { page } = await openPage(monitor, { hash: `${hash}?view=requests` });
    await page.locator("#request-title").waitFor();
    await page.keyboard.press("?");
    const listed = await page.locator("dialog.keys dt").allInnerTexts();
    expect(listed).toEqual(expect.arrayContaining(["/", "Enter", "n", "p", "j"]));
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("listbox").focus();
    await page.keyboard.press("Enter");
    await until(page, 'document.activeElement.id === "request-title"');
    await page.keyboard.press("/");
    await until(page, 'document.activeElement.matches(".filters input")');
  });

  test("rows that say little are hidden, with their count, until they are asked for", async () => {
    const { monitor, hash, store, context } = await longContext(400);
    const seen = (path: string) => ({ type: "file.seen", actor: "lead", data: { path, sha: "0" } });
    await store.append([{ ledger: context, events: [seen("a.ts"), seen("b.ts")] }]);
    const { page } = await openPage(monitor, { hash });
    await page.waitForSelector(".line");
    const other = page.getByRole("button", { name: /^other/ });
    const hidden = async () => Number(/\((\d+) hidden\)/.exec((await other.textContent()) ?? "")?.[1]);
    await expect.poll(hidden).toBeGreaterThanOrEqual(2);
    expect(await page.locator(".line-other").count()).toBe(0);
    const before = await hidden();
    await store.append([{ ledger: context, events: [seen("c.ts")] }]);
    await expect.poll(hidden).toBe(before + 1);
    await other.click();
    await page.locator(".line-other").first().waitFor();
    expect(await page.locator("[role=option]").last().getAttribute("aria-setsize")).toBe("403");
  });

  test("rows are filtered by kind and text, and a reply leads to its request", async () => {
    const { monitor, hash } = await longContext(400);
    const { page } = await openPage(monitor, { hash });
    await page.waitForSelector(".line");
    await page.getByRole("button", { name: "prompt", exact: true }).click();
    await until(
      page,
      'document.querySelectorAll(".line").length > 3 && !document.querySelector(".line:not(.line-prompt)")',
    );
    await page.keyboard.press("/");
    await page.keyboard.type("Step 7:");
    await until(page, 'document.querySelector("[role=option]").getAttribute("aria-setsize") === "1"');
    await page.getByRole("button", { name: "Show all" }).click();
    await page.locator(".line-reply").last().click();
    const link = page.getByRole("link", { name: /^The exact request of round/ });
    expect(await link.getAttribute("href")).toMatch(/view=requests&agent=.+&n=\d+$/);
  });

  test("a stretch of the timeline is opened, and looked at closer, by keys", async () => {
    const { monitor, hash } = await longContext(400);
    const { page } = await openPage(monitor, { hash: `${hash}?view=timeline` });
    const canvas = page.locator(".timeline-canvas");
    await canvas.locator("canvas").waitFor();
    const table = page.getByText("The same as a table");
    const count = async () => Number(/\((\d+) stretch/.exec((await table.textContent()) ?? "")?.[1]);
    await table.click();
    await page.locator(".span-table tbody tr").first().waitFor();
    const all = await count();
    await canvas.focus();
    await page.keyboard.press("ArrowDown");
    await page.locator(".tip").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: /^Event \d/ }).waitFor();
    for (let n = 0; n < 8; n++) await page.keyboard.press("+");
    await expect.poll(count).toBeLessThan(all / 2);
    await page.keyboard.press("0");
    await expect.poll(count).toBeGreaterThan(all / 2);
  });

  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [360, 1280])
      test(`nothing is in the way of a screen reader or a narrow window: ${colorScheme}, ${width} px`, async () => {
        const { monitor, hash } = await longContext(400);
        const { page } = await openPage(monitor, { hash: `${hash}?seq=250`, colorScheme, width });
        await page.waitForSelector('.context[data-at="250"]');
        await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
        const found = [await seriousIn(page)];
        await page.keyboard.press("2");
        await page.locator(".timeline-canvas canvas").waitFor();
        found.push(await seriousIn(page));
        const beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect({ found, beyond }).toEqual({ found: [[], []], beyond: 0 });
      });
});
