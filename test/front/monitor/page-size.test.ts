// How much a browser fetches for the page: all of its files, as they are built.
import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { monitorPageOfSources } from "../../../scripts/monitor-page.ts";

const MOST_BYTES = 60_000;

test("the page is three files, under 60 kB gzipped all together", async () => {
  const dir = await monitorPageOfSources();
  const files = fs.readdirSync(dir).sort();
  const sizes = files.map((name) => gzipSync(fs.readFileSync(path.join(dir, name))).length);
  const whole = sizes.reduce((sum, one) => sum + one, 0);
  console.log(`the page, gzipped: ${files.map((name, i) => `${name} ${sizes[i]}`).join(", ")}; ${whole} bytes in all`);
  expect(files).toEqual(["app.css", "app.js", "index.html"]);
  expect(whole).toBeLessThan(MOST_BYTES);
});
