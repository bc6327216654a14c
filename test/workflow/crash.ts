// The workflow that the crash tests kill: a chain, a fan-out, a loop with two rounds, and a phase that fails once.
import type { AgentTask } from "../../src/hub/port.ts";
import type { Workflow } from "../../src/workflow/definition.ts";
import { defineWorkflow } from "../../src/workflow/parse.ts";
import type { Play } from "./fake.ts";

export function crashFlow(): Workflow {
  return defineWorkflow({
    name: "crash",
    inputs: { topic: { type: "string", default: "tides" } },
    phases: [
      {
        id: "collect",
        prompt: "Collect {{ topic }}.",
        exports: { files: { type: "array", items: { type: "string" } } },
      },
      {
        id: "generate",
        needs: ["collect"],
        foreach: "files",
        prompt: "Write {{ item }}.",
        exports: { code: { type: "string" } },
      },
      { id: "side", needs: ["collect"], prompt: "Aside.", retry: 1, exports: { aside: { type: "number" } } },
      {
        id: "review",
        agent: "code-reviewer",
        needs: ["generate", "side"],
        prompt: "Review.",
        reads: ["code"],
        exports: { verdict: { type: "object", properties: { approved: { type: "boolean" } }, required: ["approved"] } },
        until: { when: "verdict.approved", max: 3, repeat: ["generate"] },
      },
      { id: "publish", needs: ["review"], when: "verdict.approved", prompt: "Publish.", exports: {} },
    ],
  });
}

export function playCrash({ agent }: AgentTask): Play {
  if (agent.startsWith("collect")) return { rounds: 2, exports: { files: ["a", "b"] } };
  if (agent.startsWith("generate")) return { rounds: 2, exports: { code: `code of ${agent}` } };
  if (agent === "side.1") return { fails: "the first try fails" };
  if (agent === "side.2") return { exports: { aside: 7 } };
  if (agent === "review.1") return { exports: { verdict: { approved: false } } };
  if (agent === "review.2") return { exports: { verdict: { approved: true } } };
  return {};
}
