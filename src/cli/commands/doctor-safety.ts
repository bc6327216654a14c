// What doctor says about safety: the sandbox, the network, our own files, hooks that commands could change.
import fs from "node:fs";
import path from "node:path";
import { messageOf } from "../../ledger/error.ts";
import { findProgram } from "../../ledger/programs.ts";
import { createAgentCatalogue } from "../../mechanisms/agents/catalogue.ts";
import { canWrite, ownPaths } from "../../mechanisms/jobs/can-write.ts";
import type { SandboxOptions } from "../../mechanisms/jobs/sandbox.ts";
import { agentPlaces, withheldAgents } from "../agent-places.ts";
import type { PlaceFlags } from "../flags.ts";
import { mcpServers } from "../mcp-servers.ts";
import { projectOf } from "../open.ts";
import { type OpenSettings, openSettings } from "../settings.ts";
import type { Diagnosis } from "./doctor.ts";

export async function safety(flags: PlaceFlags): Promise<Diagnosis[]> {
  try {
    const project = await projectOf(flags);
    const settings = await openSettings(flags, project);
    return [
      ...walls(settings),
      ...hooks(settings, project.root),
      trust(settings),
      ...(await agents(settings, project.root)),
      ...(await servers(settings)),
    ];
  } catch (error) {
    return [{ what: "settings", ok: false, says: messageOf(error), do: "mend the file" }];
  }
}

/** Entries of MCP servers that are not used. */
async function servers(settings: OpenSettings): Promise<Diagnosis[]> {
  const { warnings } = await mcpServers(settings, {});
  return warnings.map((says) => ({ what: "mcp", ok: false, warning: true, says, do: "mend the file" }));
}

/** Definitions that are not used, and mistakes in those that are. */
async function agents({ trusted }: OpenSettings, root: string): Promise<Diagnosis[]> {
  const catalogue = createAgentCatalogue({ places: agentPlaces(root, { trusted }) });
  await catalogue.list();
  const found = (says: string, todo: string): Diagnosis => ({
    what: "agents",
    ok: false,
    warning: true,
    says,
    do: todo,
  });
  const withheld = trusted ? [] : withheldAgents(root);
  return [
    ...(withheld.length > 0
      ? [found(`not used: ${withheld.join(", ")}`, "look at them, then `holdfast trust add`")]
      : []),
    ...catalogue.problems().map((problem) => found(problem, "mend the file")),
  ];
}

function walls({ sandboxState, sandbox, settings }: OpenSettings): Diagnosis[] {
  if (!sandboxState.works || !sandbox) {
    const why = sandboxState.works ? "" : sandboxState.why;
    return [
      {
        what: "sandbox",
        ok: false,
        warning: true,
        says: `commands run without one: ${why}; only what reads is allowed unasked, and mode auto asks. Rules are then trust, not protection: what a command that you allow starts can do all that you can`,
        do:
          settings.sandbox.enabled === false
            ? 'take "enabled": false out of "sandbox" in your settings'
            : "apt-get install bubblewrap, or work in a container where that matters",
      },
    ];
  }
  const own =
    "this machine's own: its loopback, the metadata address of a cloud (169.254.169.254) and private networks too";
  return [
    { what: "sandbox", ok: true, says: "every command runs inside bubblewrap, without network unless allowed" },
    settings.sandbox.network === "on"
      ? {
          what: "network",
          ok: true,
          says: `every command has it, and it is ${own}`,
          do: 'take "network": "on" out of "sandbox" in your settings to have it allowed call by call',
        }
      : { what: "network", ok: true, says: `a command that is allowed it has ${own}` },
    ...install(sandbox),
  ];
}

function install(sandbox: SandboxOptions): Diagnosis[] {
  const paths = ownPaths(sandbox);
  if (paths.length === 0) return [];
  const shown = paths.map((file) => path.relative(sandbox.root, file) || file);
  const isPackage = shown.includes("dist");
  return [
    {
      what: "install",
      ok: true,
      says: isPackage
        ? `this project is the Holdfast that runs: its ${shown.join(" and ")} are read-only for its commands`
        : `Holdfast is installed in this project: ${shown.join(", ")} read-only for its commands`,
      do: isPackage
        ? `to let commands build it: "sandbox": { "writable": [${JSON.stringify(sandbox.root)}] } in your settings, or run another copy of Holdfast`
        : "install or update it outside of Holdfast",
    },
  ];
}

/** They start what the project brings, by whatever name. */
const RUNNERS = new Set(["npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "make", "just"]);

/** Hooks run outside the sandbox: what a command can change of them runs there. */
function hooks({ settings, sandbox }: OpenSettings, root: string): Diagnosis[] {
  if (!sandbox) return [];
  const found = Object.entries(settings.hooks).flatMap(([event, groups]) =>
    (groups ?? []).flatMap(({ hooks: all, source }) =>
      all.flatMap(({ command, args = [] }) => {
        const programs = changeable([command, ...args].join(" "), root, sandbox);
        return programs.length === 0 ? [] : [{ event, source, programs }];
      }),
    ),
  );
  return found.map(({ event, source, programs }) => ({
    what: "hooks",
    ok: false,
    warning: true,
    says: `the ${event} hook of ${source} runs ${programs.join(", ")}, which commands can change: hooks run outside the sandbox`,
    do: "let it run a program that lies outside the project, or in .claude or .holdfast, which commands cannot write",
  }));
}

function changeable(command: string, root: string, sandbox: SandboxOptions): string[] {
  const programs = new Set<string>();
  for (const part of command.split(/[;&|\n]+|\$\(|\bxargs\b/)) {
    const words = (part.match(/(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? []).map((word) => placed(word, root));
    const first = words.find((word) => !/^\w+=/.test(word) && !word.startsWith("-")) ?? "";
    if (RUNNERS.has(first)) programs.add(`${first}, and with it what the project brings`);
    const onPath = first.includes("/") ? undefined : findProgram(first, (process.env.PATH ?? "").split(":"));
    if (first !== "" && onPath && canWrite(sandbox, onPath)) programs.add(onPath);
    for (const word of words) {
      const file = path.resolve(root, word);
      if (word.includes("/") && fs.statSync(file, { throwIfNoEntry: false })?.isFile() && canWrite(sandbox, file))
        programs.add(path.relative(root, file));
    }
  }
  return [...programs];
}

const placed = (word: string, root: string): string =>
  word
    .replace(/["'\\]/g, "")
    .replace(/\$\{?(?:CLAUDE_PROJECT_DIR|HOLDFAST_PROJECT_DIR|PWD)\}?/g, () => root)
    .replace(/^~(?=\/)|\$\{?HOME\}?/g, () => process.env.HOME ?? "~");

function trust({ trusted, withheld, permissions }: OpenSettings): Diagnosis {
  const mode = permissions.policy?.mode ?? "default";
  return {
    what: "settings",
    ok: true,
    says: `mode ${mode}; this project is ${trusted ? "" : "not "}trusted${withheld.length > 0 ? `, ${withheld.length} of its settings are not used` : ""}`,
  };
}
