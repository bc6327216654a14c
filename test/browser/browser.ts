// A real browser for tests of the monitor's page: one Chromium per file, a profile of its own for each page. What the page does wrong by itself fails the test.
import fs from "node:fs";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";
import { TOKEN } from "../front/monitor/monitor.ts";

const PROGRAM = "/usr/bin/chromium-headless-shell";
// No sandbox: tests run as root in containers. The rest keeps it from asking anybody but the page's server.
const ARGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"],
  ...["--disable-default-apps", "--disable-domain-reliability", "--enable-precise-memory-info"],
];

/** Under CI a missing browser fails, it does not skip: `test.runIf(hasBrowser)`. */
export const hasBrowser = fs.existsSync(PROGRAM) || process.env.CI === "true";

export interface PageOptions {
  /** The page's token, where it is not that of `openMonitor`. */
  token?: string;
  /** Where in the page: `#/p/p/c/CONTEXT?view=data`. */
  hash?: string;
  width?: number;
  height?: number;
  colorScheme?: "light" | "dark";
  /** What may go wrong: a server that is restarted refuses connections. Anything else fails the test. */
  tolerates?: readonly RegExp[];
}

export interface OpenPage {
  page: Page;
  cdp: CDPSession;
  /** What went wrong so far: console errors, exceptions, violations of the policy, dialogs, requests to anybody else. */
  trouble: readonly string[];
  /** Addresses of everything that was asked for, in order. */
  asked: readonly string[];
}

let launching: Promise<Browser> | undefined;

const browser = (): Promise<Browser> => {
  launching ??= chromium.launch({ executablePath: PROGRAM, args: ARGS, headless: true });
  return launching;
};

afterAll(async () => {
  await (await launching?.catch(() => undefined))?.close();
  launching = undefined;
});

/** Contract: closed when the test is over; the test fails if there was any trouble that it did not name. */
export async function openPage(monitor: { url: string }, opts: PageOptions = {}): Promise<OpenPage> {
  const { token = TOKEN, hash = "", width = 1280, height = 800, colorScheme = "light", tolerates = [] } = opts;
  const context = await (await browser()).newContext({ viewport: { width, height }, colorScheme, locale: "en-GB" });
  const page = await context.newPage();
  const trouble: string[] = [];
  const asked: string[] = [];
  const note = (what: string) => {
    if (!tolerates.some((pattern) => pattern.test(what))) trouble.push(what);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") note(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => note(`exception: ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    note(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on("popup", (popup) => note(`another window: ${popup.url()}`));
  page.on("request", (request) => {
    const url = request.url();
    asked.push(url);
    const isOwn =
      url.startsWith(`${monitor.url}/`) || url.startsWith("data:") || url.startsWith(`blob:${monitor.url}/`);
    if (!isOwn) note(`asked somebody else: ${url}`);
  });
  await context.exposeBinding("holdfastTestViolation", (_, said: string) => note(`policy: ${said}`));
  await context.addInitScript({
    content: `document.addEventListener("securitypolicyviolation", (event) =>
      window.holdfastTestViolation(event.effectiveDirective + " " + event.blockedURI + " " + event.sample));`,
  });
  onTestFinished(async () => {
    await context.close();
    if (trouble.length > 0) throw new Error(`the page had trouble:\n${trouble.join("\n")}`);
  });
  const cdp = await context.newCDPSession(page);
  await page.goto(`${monitor.url}/?token=${token}${hash}`);
  return { page, cdp, trouble, asked };
}
