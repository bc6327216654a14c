import { expect, test } from "vitest";
import * as z from "zod";
import type { Tool } from "../../src/loop/seams.ts";
import { toolSpecs } from "../../src/loop/tool-specs.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { createTodo } from "../../src/mechanisms/todo/index.ts";

const tools = [createFiles(), createJobs({ dir: "/nowhere" }), createTodo()].flatMap((m) => m.tools as Tool[]);

test("the tools of the house take at most 3.5 KiB of every request", () => {
  const wire = toolSpecs(tools).map((t) => ({ name: t.name, description: t.description, input_schema: t.input }));
  expect(JSON.stringify(wire).length).toBeLessThanOrEqual(3_584);
});

test("every schema refuses what it does not know", () => {
  for (const tool of tools) {
    expect([tool.name, z.toJSONSchema(tool.schema()).additionalProperties]).toEqual([tool.name, false]);
  }
});
