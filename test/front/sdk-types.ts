// The SDK that reads the lines of stream-json, and its types, as Anthropic publishes them; fetched when a test wants them. Nothing of them is part of this repository.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");

const SDK = "@anthropic-ai/claude-agent-sdk";
/** Its own types name those of the other, of which it takes any recent version. */
const PACKAGES = { [SDK]: "0.3.325", "@anthropic-ai/sdk": "1.8.0" };

export interface SdkTypes {
  dir: string;
  /** The Claude Code that it belongs to. */
  claudeCodeVersion: string;
  /** The SDK itself, to be imported. */
  program: string;
}

/**
 * Contract: undefined where the packages cannot be fetched; under CI=true that is an error. They are packed, not installed: its optional
 * packages are large programs that nobody needs here.
 */
export async function sdkTypes(): Promise<SdkTypes | undefined> {
  const dir = path.join(root, "node_modules/.cache/holdfast", `sdk-${Object.values(PACKAGES).join("-")}`);
  if (!fs.existsSync(dir) && !(await fetchTo(dir))) return undefined;
  const about = JSON.parse(fs.readFileSync(path.join(dir, "node_modules", SDK, "package.json"), "utf8"));
  return { dir, claudeCodeVersion: about.claudeCodeVersion, program: path.join(dir, "node_modules", SDK, "sdk.mjs") };
}

async function fetchTo(dir: string): Promise<boolean> {
  const unfinished = `${dir}.${process.pid}`;
  fs.mkdirSync(unfinished, { recursive: true });
  try {
    const packed = await pack(unfinished);
    for (const { name, filename } of packed ?? []) {
      const place = path.join(unfinished, "node_modules", name);
      fs.mkdirSync(place, { recursive: true });
      const left = ["*.js", "*.map", ...(name === SDK ? [] : ["*.mjs"])].map((pattern) => `--exclude=${pattern}`);
      await run("tar", ["xzf", filename, "-C", place, "--strip-components=1", ...left], { cwd: unfinished });
      fs.rmSync(path.join(unfinished, filename));
    }
    if (packed) renameUnlessThere(unfinished, dir);
    return packed !== undefined;
  } finally {
    fs.rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Two tests may want it at the same time. */
function renameUnlessThere(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (!fs.existsSync(to)) throw error;
  }
}

async function pack(dir: string): Promise<{ name: string; filename: string }[] | undefined> {
  const wanted = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
  const options = ["--json", "--pack-destination", dir, "--fetch-retries=1", "--fetch-timeout=30000"];
  try {
    const { stdout } = await run("npm", ["pack", ...wanted, ...options], { cwd: dir, maxBuffer: 2 ** 26 });
    return JSON.parse(stdout);
  } catch (error) {
    if (process.env.CI === "true") throw error;
    return undefined;
  }
}

/** Contract: what the compiler says of this source, one line a problem. */
export async function problemsIn({ dir }: SdkTypes, source: string): Promise<string[]> {
  const file = path.join(dir, `check-${process.pid}.ts`);
  fs.writeFileSync(file, source);
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2024", "--types", "node"];
  const modules = ["--module", "nodenext", "--moduleResolution", "nodenext", "--noErrorTruncation"];
  try {
    await run(path.join(root, "node_modules/.bin/tsc"), ["--ignoreConfig", ...options, ...modules, file], { cwd: dir });
    return [];
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error)
      .trim()
      .split("\n");
  } finally {
    fs.rmSync(file);
  }
}
