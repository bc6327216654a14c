// The tabs of a context in a real browser, over the real server and a run that really happened: each shows what was recorded.
import fs from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Costs, UsageSeries } from "../../src/front/monitor/context-api.ts";
import { money, tokens } from "../../src/front/presentation/format.ts";
import { makeLongContext } from "../front/monitor/long-context.ts";
import { openMonitor, openWorld } from "../front/monitor/monitor.ts";
import { recordedWork } from "../front/monitor/recorded-work.ts";
import { seriousIn } from "./axe.ts";
import { hasBrowser, openPage } from "./browser.ts";

const VIEWS = ["messages", "data", "checkpoints", "files", "usage", "costs", "requests"];

const hashOf = (context: string, view: string, more = "") => `#/p/p/c/${context}?view=${view}${more}`;
const option = (page: Page, says: string | RegExp) => page.getByRole("option", { name: says });

async function show(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

test.runIf(hasBrowser)(
  "messages: who wrote to whom, in full; one is sent from the page and comes in live",
  async () => {
    const { monitor, context, house } = await recordedWork();
    const { page } = await openPage(monitor, { hash: hashOf(context, "messages") });
    await option(page, /to alice: Please look/).click();
    await page.getByText("Please look at **src/解析.ts**, and <b>only</b> at that.", { exact: true }).waitFor();
    await page.getByLabel("Message to alice").fill("読んでください");
    await page.getByRole("button", { name: "Send" }).click();
    await option(page, /user.*to alice: 読んでください/).waitFor();
    const sent = (await house.events(context)).filter(({ type }) => type === "message.sent");
    expect(sent.map(({ actor, data }) => [actor, (data as { content: string }).content])).toEqual([
      ["lead", "Please look at **src/解析.ts**, and <b>only</b> at that."],
      ["user", "読んでください"],
    ]);
  },
);

test.runIf(hasBrowser)("data: each key with its versions, a value as it was, and what changed in it", async () => {
  const { monitor, context } = await recordedWork();
  const { page } = await openPage(monitor, { hash: hashOf(context, "data") });
  await option(page, /findings/).click();
  await page.getByText('"<script>alert(1)</script> stays text"').last().waitFor();
  await option(page, /計画/).click();
  await page.getByRole("button", { name: "Changes" }).click();
  const diff = page.getByRole("region", { name: /^Diff/ });
  await diff.getByText('"test"').waitFor();
  expect(await diff.locator("tr.is-added .line-text").allInnerTexts()).toEqual([
    '    "write",',
    '    "test"',
    '  "done": 2',
  ]);
  await page.getByLabel("Version").selectOption({ index: 1 });
  await page.locator("pre", { hasText: '"done": 1' }).waitFor();
  await page.getByLabel("Filter").fill("find");
  await option(page, /計画/).waitFor({ state: "detached" });
});

test.runIf(hasBrowser)(
  "data: while a moment is looked at, the values are those of then, and that is said",
  async () => {
    const { monitor, context, house } = await recordedWork();
    const [first] = (await house.events(context)).filter(({ type }) => type === "data.shared");
    const { page } = await openPage(monitor, { hash: hashOf(context, "data", `&seq=${first!.seq}`) });
    await page.getByText(`Values as of event ${first!.seq}`).waitFor();
    await option(page, /計画.*"done":1/).waitFor();
    expect(await page.getByRole("option").count()).toBe(1);
  },
);

test.runIf(hasBrowser)(
  "checkpoints: a restore left a branch; from one the files are compared, and a fork is made",
  async () => {
    const { monitor, context } = await recordedWork();
    const { page } = await openPage(monitor, { hash: hashOf(context, "checkpoints") });
    await option(page, /before another way.*left/).waitFor();
    const names = await page.locator(".checkpoint-line b").allInnerTexts();
    expect(names).toEqual(["prompt 2", "before restoring prompt 2", "before another way", "prompt 2", "prompt 1"]);
    expect(await page.locator(".lane.level-1").count()).toBe(2);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "before another way" }).waitFor();
    // Where files would go is said before.
    await page.getByRole("button", { name: "Restore here…" }).click();
    const { row } = await monitor.json<{ row: { folder: string } }>(`/api/p/p/c/${context}`);
    expect(await page.getByRole("dialog").locator("code").allInnerTexts()).toEqual([row.folder]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Fork here" }).click();
    await page.getByRole("link", { name: "Open the fork" }).waitFor();
    await option(page, /before another way.*1 fork/).waitFor();
    await page.getByRole("button", { name: "Files since prompt 2" }).click();
    await option(page, /changed.*src\/解析\.ts/).click();
    const diff = page.getByRole("region", { name: "Diff: src/解析.ts" });
    expect(await diff.locator("tr.is-removed .line-text").allInnerTexts()).toEqual(["export const 行 7"]);
    expect(await diff.locator("tr.is-added .line-text").allInnerTexts()).toEqual(["export const 行 seven"]);
  },
);

test.runIf(hasBrowser)(
  "files: what changed until now; as of a moment, with edits recorded since said as such",
  async () => {
    const { monitor, context, house } = await recordedWork();
    const { page } = await openPage(monitor, { hash: hashOf(context, "files") });
    await option(page, /other\.md/).waitFor();
    expect(await page.locator(".file-line").allInnerTexts()).toEqual([
      expect.stringMatching(/added\s*other\.md/),
      expect.stringMatching(/added\s*src\/解析\.ts/),
    ]);
    const edits = (await house.events(context)).filter(
      ({ type, data }) => type === "tool.finished" && (data as { name: string }).name === "edit_file",
    );
    await show(page, hashOf(context, "files", `&seq=${edits[0]!.seq}`));
    await page.getByText(/edits? recorded since prompt 2, not in these files/).waitFor();
    await page.locator(".edits", { hasText: "edit_file by lead" }).waitFor();
  },
);

test.runIf(hasBrowser)(
  "usage and costs: what the server counted, drawn and as tables; a click on a chart goes to that event",
  async () => {
    const { monitor, context } = await recordedWork();
    const usage = await monitor.json<UsageSeries>(`/api/p/p/c/${context}/usage`);
    const { page } = await openPage(monitor, { hash: hashOf(context, "usage") });
    await page.locator(".chart canvas").nth(4).waitFor();
    await page.getByText("As a table").click();
    expect(await page.locator(".as-table tbody tr").count()).toBe(usage.seq.length);
    // Another theme draws the charts anew, in its colours.
    const picture = () => page.evaluate('document.querySelector(".chart canvas").toDataURL()');
    const light = await picture();
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(picture).not.toBe(light);
    const chart = page.locator(".chart-box").first();
    await chart.click({ position: { x: (await chart.boundingBox())!.width - 2, y: 40 } });
    await page.waitForURL(new RegExp(`seq=${usage.seq.at(-1)}`));
    const costs = await monitor.json<Costs>(`/api/p/p/c/${context}/costs`);
    expect(costs.breaks.length).toBeGreaterThan(0);
    await show(page, hashOf(context, "costs"));
    await page.getByRole("button", { name: /^r7: .*the prefix broke: .*went back to a checkpoint/ }).waitFor();
    const caption = page.getByText(`${costs.breaks.length} requests broke the cached prefix`);
    await caption.waitFor();
    // Keys alone: down to a turn, into it, and from the zoomed one to its event.
    await page.getByRole("button", { name: /^context: / }).focus();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const turn = costs.tree.children[0]!.children[0]!;
    const zoomed = page.getByRole("button", { name: turn.name });
    await expect.poll(async () => (await zoomed.boundingBox())!.width).toBeGreaterThan(1000);
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`seq=${turn.seq}$`));
  },
);

test.runIf(hasBrowser)(
  "usage: one cursor for all charts, by hand and by keys, says what was counted there; Enter goes to that event",
  async () => {
    const { monitor, context } = await recordedWork();
    const usage = await monitor.json<UsageSeries>(`/api/p/p/c/${context}/usage`);
    const { page } = await openPage(monitor, { hash: hashOf(context, "usage") });
    const cost = page.getByRole("slider", { name: /^Cost, summed/ });
    const events = page.locator(".chart", { hasText: "Events" }).locator(".chart-legend b");
    await page.getByRole("button", { name: "By event" }).click();
    // By hand: in the first chart, seen in the others too.
    await page
      .locator(".chart-box")
      .first()
      .hover({ position: { x: 60, y: 40 } });
    await expect.poll(() => events.textContent()).toBe(tokens(usage.events[0]!));
    await page.mouse.move(0, 0);
    await expect.poll(() => events.textContent()).toBe(tokens(usage.events.at(-1)!));
    const drawn = () => page.evaluate('document.querySelectorAll(".chart canvas")[3].toDataURL()');
    const before = await drawn();
    await cost.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => events.textContent()).toBe(tokens(usage.events[1]!));
    expect(await drawn()).not.toBe(before);
    expect(await cost.getAttribute("aria-valuenow")).toBe("2");
    expect(await cost.getAttribute("aria-valuemax")).toBe(String(usage.seq.length));
    const says = `event ${usage.seq[1]}, paid ${money(usage.usd[1])}`;
    expect(await cost.getAttribute("aria-valuetext")).toContain(says);
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`seq=${usage.seq.at(-2)}$`));
  },
);

test.runIf(hasBrowser)(
  "requests: the body of each is what the model's server got, byte for byte; against the one before, in words and lines",
  async () => {
    const { monitor, context, sent, say, house } = await recordedWork();
    const { page } = await openPage(monitor, { hash: hashOf(context, "requests") });
    await page.getByText(/Exactly what was sent/).waitFor();
    const saved = async () => {
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save exact bytes" }).click();
      const bytes = fs.readFileSync(await (await download).path());
      return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
    };
    expect(await saved()).toBe(sent().at(-1));
    await page.keyboard.press("p");
    await page.getByRole("heading", { name: "lead r7" }).waitFor();
    expect(await saved()).toBe(sent().at(-2));
    await page.getByRole("button", { name: "Against the one before" }).click();
    await page.getByText(/from the request of r6 to that of r7: the prefix breaks/).waitFor();
    await page.locator(".diff-table tr.is-added").first().waitFor();
    const before = house.server.log().requests.length;
    await say("once more");
    await page.getByText(`${before + 1} requests`).waitFor();
  },
);

test.runIf(hasBrowser)(
  "every tab has no serious fault of accessibility and stays in a narrow, dark window",
  async () => {
    const { monitor, context, house } = await recordedWork();
    const long = await makeLongContext(house.store, { root: house.root, events: 3_000 });
    for (const [id, width, colorScheme] of [
      [context, 360, "dark"],
      [long, 1280, "light"],
    ] as const) {
      const { page } = await openPage(monitor, { hash: hashOf(id, "messages"), width, colorScheme });
      for (const view of VIEWS) {
        await show(page, hashOf(id, view));
        await page.locator(".view").waitFor();
        await page.waitForTimeout(500);
        expect([view, await seriousIn(page)]).toEqual([view, []]);
        const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([view, Number(wide) <= 0]).toEqual([view, true]);
        expect(await page.getByRole("option").count()).toBeLessThanOrEqual(300);
      }
    }
  },
);

test.runIf(hasBrowser)("costs of thousands of rounds are at most 300 boxes", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 8_000 });
  const monitor = await openMonitor(store, { root });
  const { page } = await openPage(monitor, { hash: hashOf(context, "costs") });
  await page.locator(".flame-box").first().waitFor();
  const count = await page.locator(".flame-box").count();
  expect(count).toBeGreaterThan(20);
  expect(count).toBeLessThanOrEqual(300);
});
