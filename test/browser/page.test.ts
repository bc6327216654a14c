// The page comes up in a real browser without any trouble, and trouble is seen where there is some.
import http from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { makeLongContext } from "../front/monitor/long-context.ts";
import { openMonitor, openWorld } from "../front/monitor/monitor.ts";
import { hasBrowser, openPage } from "./browser.ts";

test.runIf(hasBrowser)("the page comes up, and asks nobody but its server", async () => {
  const { store, root } = await openWorld();
  await makeLongContext(store, { root, events: 100 });
  const monitor = await openMonitor(store, { root });
  const { page, asked } = await openPage(monitor);
  await page.getByText("live", { exact: true }).waitFor();
  expect(asked.map((one) => new URL(one).pathname)).toEqual([
    ...["/", "/app.css", "/app.js", "/api/hello", "/api/live"],
  ]);
  expect(page.url()).toBe(`${monitor.url}/`);
});

test.runIf(hasBrowser)("whatever takes the port after the monitor gets no token, and the page says so", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 100 });
  const monitor = await openMonitor(store, { root });
  const { page } = await openPage(monitor, { hash: `#/p/p/c/${context}`, tolerates: [/Failed to load resource/] });
  await page.getByText("live", { exact: true }).waitFor();
  await page.waitForSelector(".line");
  await monitor.close();
  const got: { path: string; authorization: string | undefined }[] = [];
  const other = http.createServer(({ url = "", headers: { authorization } }, answer) => {
    got.push({ path: url.split("?")[0]!, authorization });
    answer.setHeader("content-type", "application/json").end(JSON.stringify({ proof: "0".repeat(64) }));
  });
  await new Promise<void>((resolve) => other.listen(monitor.port, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  await page.locator("#main").getByText("Something else answers at this address").waitFor();
  // What a person does now asks it too.
  await page.keyboard.press("4");
  await page.getByText("something else answers at this address", { exact: true }).first().waitFor();
  expect(got.length).toBeGreaterThan(0);
  expect(got.filter(({ path, authorization }) => path !== "/api/hello" || authorization !== undefined)).toEqual([]);
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
