// The house of a replay: every mechanism of the present build, as it was set up then, with nothing of the world behind it.
import { mechanismsOf } from "../harness.ts";
import type { GateCall, Looked, Mechanism, Tool } from "../loop/seams.ts";
import { createAgentCatalogue } from "../mechanisms/agents/catalogue.ts";
import { modesOf } from "../mechanisms/agents/index.ts";
import type { ApprovalsState } from "../mechanisms/approvals/events.ts";
import { createPermissions } from "../mechanisms/permissions/index.ts";
import { seenThen } from "../mechanisms/permissions/looking.ts";
import { createTeam } from "../mechanisms/team/index.ts";
import type { Model } from "../models/model.ts";
import type { RecordedSettings } from "./settings.ts";

/** What an embedding program has besides; without it a context of such a program is replayed as far as the house goes. */
export interface OwnParts {
  mechanisms?: readonly Mechanism[];
  tools?: readonly Tool[];
}

export interface HouseWorld extends OwnParts {
  /** In place of every model; told which one is asked. */
  reply: Model["reply"];
  wire: Model["wire"];
  /** What judging that call saw of the disk. */
  looked: (call: GateCall) => Looked | undefined;
  /** What fallback models were called, in their order. */
  fallbacks: readonly string[];
  /** Changes the house, as another build would: for tests of the replay itself. */
  change?: (mechanisms: Mechanism[]) => Mechanism[];
}

export interface House {
  mechanisms: readonly Mechanism[];
  model: Model;
  /** As recorded. */
  settings: Record<string, unknown>;
}

/** For what nobody may use here: whoever does waits for ever, and the replay says that nothing came. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

const NO_PLACE = "/nonexistent";

export function createHouse({ model, by, raw }: RecordedSettings, world: HouseWorld): House {
  const { id } = model;
  const { limits } = raw ?? model;
  const modelNamed = (name: string): Model => {
    const model: Model = { id: name, limits, reply: world.reply };
    return world.wire ? { ...model, wire: world.wire } : model;
  };
  const mechanisms = mechanismsOf({
    root: NO_PLACE,
    jobsDir: `${NO_PLACE}/jobs`,
    platform: by.identity.platform,
    appendSystemPrompt: by.identity.append,
    systemPrompt: by.identity.instead,
    maxRounds: by.limits.maxRounds,
    budget: by.budget,
    backoff: { sleep: async () => undefined, random: () => 0 },
    fallbackModels: Array.from(
      { length: by.recovery.fallbacks },
      (_, i) => async () => modelNamed(world.fallbacks[i] ?? id),
    ),
    openModel: async (spec) => modelNamed(spec),
    approvals: { wait: true },
    contexts: never,
    ...(by.checkpoints.keepsFiles && { files: never }),
    ...(by.tasks.hasBoard && { board: never }),
    ...(by.worktrees.hasPlace && { worktrees: { dir: NO_PLACE, offer: by.worktrees.offer } }),
    ...(by.memory.remembers && { memory: {}, memories: never }),
    ...(by.subagents && {
      subagents: by.subagents,
      runner: async () => ({ create: never, run: never, isHeld: async () => true, record: never }),
      catalogue: createAgentCatalogue(),
    }),
    mechanisms: [...(world.mechanisms ?? [])],
    tools: [...(world.tools ?? [])],
  }).map((one) => instead(one, by, world));
  return { mechanisms: world.change?.(mechanisms) ?? mechanisms, model: modelNamed(id), settings: raw?.by ?? {} };
}

/** What the options of a house put together otherwise, or with more than was recorded. */
function instead(mechanism: Mechanism, by: RecordedSettings["by"], world: HouseWorld): Mechanism {
  if (mechanism.name === "team") return createTeam(by.team); // without the board, by which idle teammates find work
  if (mechanism.name !== "permissions") return mechanism;
  return createPermissions({
    ...by.permissions,
    modesOf,
    keptRules: (turn) => turn.slice<ApprovalsState>("approvals").rules.map(({ rule }) => rule),
    lookFor: (call) => seenThen(call.tool.name, world.looked(call)),
  });
}
