// Every command that README, docs and help print is run as it is printed, in a small project with the offline model.
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram, startCli } from "../cli/cli.ts";
import { here } from "../cli/here.ts";
import { type Printed, printedInHelp, printedInPages } from "./printed.ts";
import { EXPECTED, REWRITES, rewritten, type World } from "./rewrites.ts";
import { makeWorld, openPlace } from "./world.ts";

const opened = openPlace();
const { place } = opened;
let world: World;

beforeAll(async () => {
  world = await makeWorld(place);
}, 120_000);
afterAll(async () => {
  await here(["jobs", "kill", world.job], place);
  opened.close();
});

const printed = (): Printed[] => [...printedInPages(), ...printedInHelp()];

/** As it is run, with where it was printed; what comes to the same is run once. */
function commands(): Map<string, string> {
  const found = new Map<string, string>();
  for (const { text, where } of printed()) {
    const command = rewritten(text).replace(/\{(\w+)(?:\.(\d))?\}/g, (_, name: keyof World, at?: string) =>
      String(at === undefined ? world[name] : world[name][Number(at)]),
    );
    if (!found.has(command)) found.set(command, where);
  }
  return found;
}

test("every printed command can be run: each placeholder has its rule, and each rule is needed", () => {
  const used = new Set<(typeof REWRITES)[number]>();
  const left = printed()
    .map(({ text, where }) => `${where}: ${rewritten(text, used)}`)
    .filter((line) =>
      /…|\[|\||(?:^|\s)[A-Z]{2,}(?:\s|$)/.test(
        line.replace(/"[^"]*"|'[^']*'|^git diff \|/g, "").replace(/^.*?: git diff \|/, ""),
      ),
    );
  expect(left).toEqual([]);
  expect(REWRITES.filter((rule) => !used.has(rule)).map(({ printed: rule }) => String(rule))).toEqual([]);
  expect(printed().length).toBeGreaterThan(200);
});

const codeOf = (command: string): number => EXPECTED.find(([fits]) => fits.test(command))?.[1] ?? 0;
const isPrompt = (command: string): boolean => /holdfast -p|contexts resume|workflow r/.test(command);
const needsShell = (command: string): boolean => /^(?!holdfast )|[<>]|&&(?=[^"]*$)/.test(command);

/** Words as a shell reads them: the examples quote, and do nothing else. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/["']/g, ""));

async function run(command: string): Promise<string[]> {
  const { code, stdout, stderr } =
    isPrompt(command) || needsShell(command)
      ? await runProgram("bash", ["-c", command], { ...place, env: { ...place.env, PATH: place.path } })
      : await here(wordsOf(command).slice(1), place);
  return code === codeOf(command)
    ? []
    : [`${command}\n  exit code ${code}: ${`${stdout}\n${stderr}`.trim().slice(-600)}`];
}

test("works as printed", async () => {
  const all = [...commands().keys()].filter((command) => command !== "holdfast worker");
  // What goes on with the newest context has it to itself.
  const alone = (command: string) => / -c\b| -r\b|resume/.test(command);
  const prompts = all.filter(isPrompt);
  const wrong: string[] = [];
  const next = prompts.filter((command) => !alone(command));
  const worker = async () => {
    for (let command = next.shift(); command !== undefined; command = next.shift()) wrong.push(...(await run(command)));
  };
  await Promise.all([worker(), worker(), hosts()]);
  for (const command of prompts.filter(alone)) wrong.push(...(await run(command)));
  for (const command of all.filter((one) => !isPrompt(one))) wrong.push(...(await run(command)));
  expect(wrong).toEqual([]);

  /** It runs until it is told to end. */
  async function hosts(): Promise<void> {
    const { child, exited } = startCli(["worker"], place);
    child.stderr!.on("data", (text) => String(text).includes("Ctrl-C ends it") && child.kill("SIGINT"));
    const { code, stderr } = await exited;
    if (code !== 0) wrong.push(`holdfast worker\n  exit code ${code}: ${stderr}`);
  }
}, 120_000);
