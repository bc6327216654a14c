// A change of a file is planned once for each call, in a whole house: the loop hands what was intended to the execution.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { executeChange, intendChange, type MakeChange, reconcileChange } from "../../src/file-access/file-change.ts";
import { defineMechanism, defineTool } from "../../src/loop/seams.ts";
import { openHouse } from "../house.ts";

interface Put {
  path: string;
  content: string;
}

test("a change is made up once a call; a file that changes after it was planned is not overwritten", async () => {
  const made: string[] = [];
  const make: MakeChange<Put> = (existing, { content }, shown) => {
    made.push(content);
    const texts = { before: existing?.bytes.toString() ?? "", after: content };
    return { bytes: Buffer.from(content), said: `put ${shown}`, texts };
  };
  const put = defineTool<Put>({
    name: "put",
    description: "put",
    schema: () => z.strictObject({ path: z.string(), content: z.string() }),
    effect: "reconcile",
    intend: (run) => intendChange(run, make),
    execute: (run) => executeChange(run, make),
    reconcile: async (run) => reconcileChange(run),
  });
  const call = (content: string, file = "a.txt") => ({ calls: [{ name: "put", input: { path: file, content } }] });
  /** What happens to the file between the plan and the execution, by what is to be written. */
  const meanwhile: Record<string, string> = { "two\n": "one\n", "three\n": "theirs\n", "new\n": "theirs too\n" };
  const house = await openHouse(
    [call("one\n"), call("two\n"), call("three\n"), call("new\n", "b.txt"), { text: "done" }],
    {
      mechanisms: [
        defineMechanism({
          name: "meanwhile",
          tools: [put],
          seams: {
            tool: async (run, next) => {
              const { path: file, content } = run.input as Put;
              const theirs = meanwhile[content];
              if (theirs !== undefined) fs.writeFileSync(path.join(house.root, file), theirs);
              return next({ ...run });
            },
          },
        }),
      ],
    },
  );
  onTestFinished(() => house.close());
  const run = await house.harness.run("go");
  await run.result;
  const results = (await house.events(run.context))
    .filter(({ type }) => type === "tool.finished")
    .map(({ data }) => {
      const { content, display } = data as { content: [{ text: string }]; display?: string };
      return [content[0].text, display?.split("\n").slice(2).join("\n")];
    });
  const text = (file: string) => fs.readFileSync(path.join(house.root, file), "utf8");
  expect({ made, results, a: text("a.txt"), b: text("b.txt") }).toEqual({
    made: ["one\n", "two\n", "three\n", "new\n"],
    results: [
      ["put a.txt", "@@ -0,0 +1,1 @@\n+one"],
      ["put a.txt", "@@ -1,1 +1,1 @@\n-one\n+two"], // written anew with the same content meanwhile
      ["a.txt has changed since you read it; read it again first", undefined],
      ["b.txt exists and you have not read it; read it first", undefined],
    ],
    a: "theirs\n",
    b: "theirs too\n",
  });
});
