// The page comes up in a real browser without any trouble, and trouble is seen where there is some.
import { expect, test } from "vitest";
import { makeLongContext } from "../front/monitor/long-context.ts";
import { openMonitor, openWorld } from "../front/monitor/monitor.ts";
import { hasBrowser, openPage } from "./browser.ts";

test.runIf(hasBrowser)("the page comes up, and asks nobody but its server", async () => {
  const { store, root } = await openWorld();
  await makeLongContext(store, { root, events: 100 });
  const monitor = await openMonitor(store, { root });
  const { page, asked } = await openPage(monitor);
  await page.getByText("live", { exact: true }).waitFor();
  expect(asked.map((one) => new URL(one).pathname)).toEqual(["/", "/app.css", "/app.js", "/api/live"]);
  expect(page.url()).toBe(`${monitor.url}/`);
});

test.runIf(hasBrowser)("what a page must not do is seen: markup from a text, another machine", async () => {
  const { store, root } = await openWorld();
  const monitor = await openMonitor(store, { root });
  const { page } = await openPage(monitor, { tolerates: [/.*/] });
  const seen: string[] = [];
  page.on("console", (message) => seen.push(message.text()));
  const tried = await page.evaluate(`(() => {
    const said = [];
    try { document.body.innerHTML = "<img src=x onerror=alert(1)>"; } catch (error) { said.push(error.name); }
    document.body.append(Object.assign(document.createElement("img"), { src: "https://evil.example/x.png" }));
    return said;
  })()`);
  expect(tried).toEqual(["TypeError"]);
  await expect.poll(() => seen.join("\n")).toContain("evil.example");
});
