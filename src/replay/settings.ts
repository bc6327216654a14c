// What decisions rested on when they were recorded, as mechanisms put it down: the house of a replay is built from it.
import * as z from "zod";
import { PERMISSION_MODES } from "../claude-code/permission-modes.ts";
import type { Limits } from "../models/model.ts";

const rule = () => z.object({ text: z.string(), source: z.string(), base: z.string() });
const names = () => z.array(z.string()).optional();

const schema = z.object({
  model: z.object({
    id: z.string(),
    limits: z.object({
      contextTokens: z.number(),
      outputTokens: z.number(),
      images: z.boolean(),
      documents: z.boolean(),
    }) satisfies z.ZodType<Limits>,
  }),
  by: z.object({
    identity: z.object({ append: z.string().optional(), instead: z.string().optional(), platform: z.string() }),
    limits: z.object({ maxRounds: z.number().optional() }),
    recovery: z.object({ fallbacks: z.number() }),
    budget: z.object({ tokens: z.number().optional(), usd: z.number().optional(), rounds: z.number().optional() }),
    checkpoints: z.object({ keepsFiles: z.boolean() }),
    permissions: z.object({
      policy: z.object({
        mode: z.enum(PERMISSION_MODES),
        allow: z.array(rule()),
        ask: z.array(rule()),
        deny: z.array(rule()),
      }),
      home: z.string(),
      additionalDirectories: names(),
      readable: names(),
      own: names(),
      sandboxed: z.boolean().optional(),
      openNetwork: z.boolean().optional(),
      trustedTools: names(),
    }),
    tasks: z.object({ hasBoard: z.boolean() }),
    worktrees: z.object({ hasPlace: z.boolean(), offer: z.boolean().optional() }),
    team: z.object({
      offer: z.boolean().optional(),
      mostTeammates: z.number().optional(),
      mostAgents: z.number().optional(),
    }),
    subagents: z.object({ maxDepth: z.number(), maxAgents: z.number() }).optional(),
    memory: z.object({ remembers: z.boolean() }),
  }),
});

export type RecordedSettings = z.infer<typeof schema> & {
  /** As they were recorded, whatever this build would put down. */
  raw?: { limits: Limits; by: Record<string, unknown> };
};

/** Undefined: a version recorded it that put down other things. */
export function parseSettings(json: string): RecordedSettings | undefined {
  const whole: unknown = JSON.parse(json);
  const parsed = schema.safeParse(whole, { jitless: true });
  const as = z.looseObject({
    model: z.looseObject({ limits: z.custom<Limits>() }),
    by: z.custom<Record<string, unknown>>(),
  });
  const { data: raw } = as.safeParse(whole, { jitless: true });
  return parsed.success ? { ...parsed.data, ...(raw && { raw: { limits: raw.model.limits, by: raw.by } }) } : undefined;
}
