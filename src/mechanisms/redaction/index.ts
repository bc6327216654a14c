// Hiding known secrets: what our own environment holds under a secret's name never comes back in a result.
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Progress, type ToolOutput, type Turn } from "../../loop/seams.ts";
import { secretsIn } from "./secrets.ts";

export function createRedaction(env: NodeJS.ProcessEnv): Mechanism {
  const hide = redactor(env);
  return defineMechanism({
    name: "redaction",
    carry: nothing,
    outside: { at: ["tool"] },
    seams: {
      async tool(run, next) {
        if (!hide) return next(run);
        const emit = (progress: Progress) =>
          run.turn.emit(progress.type === "output" ? { ...progress, text: hide(progress.text) } : progress);
        const turn: Turn = Object.create(run.turn, { emit: { value: emit } });
        return redact(await next({ ...run, turn }), hide);
      },
    },
  });
}

/** Undefined when there is nothing to hide. */
export function redactor(env: NodeJS.ProcessEnv): ((text: string) => string) | undefined {
  const secrets = secretsIn(env);
  if (secrets.size === 0) return undefined;
  const longestFirst = [...secrets.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "g");
  return (text) => text.replace(pattern, (value) => `[redacted ${secrets.get(value)}]`);
}

function redact(output: ToolOutput, hide: (text: string) => string): ToolOutput {
  const { content, display } = output;
  return {
    ...output,
    content:
      typeof content === "string"
        ? hide(content)
        : content.map((c) => (c.type === "text" ? { ...c, text: hide(c.text) } : c)),
    ...(display === undefined ? {} : { display: hide(display) }),
  };
}
