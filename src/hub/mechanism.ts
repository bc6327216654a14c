// The hub's side of the loop: the tools by which agents read and write what they share.
import * as z from "zod";
import type { Contexts } from "../contexts/open.ts";
import { own } from "../ledger/own.ts";
import type { Carrying } from "../loop/carry.ts";
import { resultOfError } from "../loop/next-step.ts";
import {
  defineMechanism,
  defineTool,
  type Mechanism,
  type Tool,
  type ToolOutput,
  type ToolRun,
  type Turn,
} from "../loop/seams.ts";
import { asData, nameAsData } from "../templates/data.ts";
import { fittingTexts } from "../text/fitting.ts";
import { type HubState, hubEvents, hubSlice, wantedOf } from "./events.ts";

/** Contract: `contexts` is asked for when a tool runs first; without it the mechanism only reads its events. */
export function createHubMechanism(contexts?: () => Promise<Contexts>): Mechanism {
  let tools: Tool[] | undefined;
  return defineMechanism({
    name: "hub",
    carry: carryPart,
    events: hubEvents,
    fold: hubSlice,
    tools: (turn) => {
      // Whoever has no part of a larger work shares with nobody: the tools would only cost tokens.
      if (!contexts || !hasPart(turn)) return [];
      tools ??= [contextList(contexts), contextRead(contexts), contextWrite(contexts), exportTool(contexts)];
      return tools;
    },
  });
}

/** Of the window. */
const SHARE = 0.04;

/** What is still to be handed in. */
function carryPart({ agent, slice }: Pick<Turn, "agent" | "slice">, { room }: Pick<Carrying, "room">): string {
  const assigned = own(slice<HubState>("hub"), agent);
  const wanted = wantedOf(assigned).map((key) => {
    const schema = JSON.stringify(assigned?.exports[key] ?? {});
    return { whole: `- ${nameAsData(key)}: ${schema}`, short: `- ${nameAsData(key)}` };
  });
  if (!assigned || wanted.length === 0) return "";
  const head = "Still to be handed in with export_to_context, each as its JSON Schema says:";
  const done = assigned.exported.length > 0 ? [`Handed in: ${assigned.exported.map(nameAsData).join(", ")}`] : [];
  return [head, ...fittingTexts(wanted, room(SHARE), (count) => `- and ${count} more`), ...done].join("\n");
}

/** It was given a part, or those it gave parts to have exported something. */
function hasPart({ agent, slice }: Turn): boolean {
  const hub = slice<HubState>("hub");
  if (hub[agent]) return true;
  return Object.entries(hub).some(([name, { exported }]) => exported.length > 0 && name.startsWith(`${agent}.`));
}

type Open = () => Promise<Contexts>;

const open = async (contexts: Open, { turn }: ToolRun) => (await contexts()).get(turn.context, { agent: turn.agent });

const contextList = (contexts: Open): Tool =>
  defineTool<Record<string, never>>({
    name: "context_list",
    description: "List the shared data: key, type, bytes, version, author.",
    schema: () => z.strictObject({}),
    effect: "read",
    async execute(run) {
      const infos = await (await open(contexts, run)).list();
      if (infos.length === 0) return { content: "(nothing is shared yet)" };
      return {
        content: infos
          .map(
            (i) =>
              `${nameAsData(i.key)}  ${i.type}  ${i.bytes} bytes  version ${i.version}  by ${nameAsData(i.author)}`,
          )
          .join("\n"),
      };
    },
  });

const contextRead = (contexts: Open): Tool =>
  defineTool<{ key: string; path?: string }>({
    name: "context_read",
    description: "Read shared data, whole or a part: path such as $.files[0:10].name",
    schema: () => z.strictObject({ key: z.string(), path: z.string().optional() }),
    effect: "read",
    async execute(run) {
      const { key, path } = run.input;
      const value = await (await open(contexts, run)).read(key, path);
      if (value === undefined)
        return { content: `${key}${path ? ` has nothing at ${path}` : " is not shared"}`, isError: true };
      return { content: asData(value, { origin: `shared data ${key}${path ? ` ${path}` : ""}` }) };
    },
  });

const contextWrite = (contexts: Open): Tool =>
  defineTool<{ key: string; value: unknown; expect?: number; append?: boolean }>({
    name: "context_write",
    description:
      "Share a JSON value under a key that is new or yours. expect: the version you read; refused when it has changed. append: add it to a list.",
    schema: () =>
      z.strictObject({
        key: z.string().min(1),
        value: z.json(),
        expect: z.int().nonnegative().optional(),
        append: z.boolean().optional(),
      }),
    effect: "internal",
    async execute(run) {
      const { key, value, expect, append } = run.input;
      await run.turn.append([]); // the reply that asks for it is durable before anyone else can see what it did
      const context = await open(contexts, run);
      // A resume runs the call again when its result was not recorded: what it wrote is there already.
      const written = (await context.history(key)).find((e) => e.author === run.turn.agent && e.call === run.call.id);
      const write = { call: run.call.id, ...(expect === undefined ? {} : { expect }) };
      const { version, bytes } =
        written ?? (await (append ? context.append(key, value, write) : context.share(key, value, write)));
      return { content: `shared ${key}: version ${version}, ${bytes} bytes` };
    },
  });

const exportTool = (contexts: Open): Tool =>
  defineTool<{ values: Record<string, unknown> }>({
    name: "export_to_context",
    description: "Hand in your results: {values: {key: value}}, each as its schema says.",
    schema: () => z.strictObject({ values: z.record(z.string(), z.json()) }),
    effect: "internal",
    async execute(run): Promise<ToolOutput> {
      const assigned = run.turn.slice<HubState>("hub")[run.turn.agent];
      if (!assigned) return { content: "nobody asked you for exports: use context_write", isError: true };
      try {
        await run.turn.append([]); // as above
        const { exportValues } = await import("./exports.ts");
        const context = await open(contexts, run);
        const keys = await exportValues(context, assigned, run.input.values, {
          agent: run.turn.agent,
          call: run.call.id,
        });
        return { content: `exported: ${keys.join(", ")}`, events: [{ type: "hub.exported", data: { keys } }] };
      } catch (error) {
        return resultOfError(error);
      }
    },
  });
