// Running the scripted model server as a process of its own, so that it outlives a killed harness.
//   node src/testing/model-server-main.ts --script FILE [--port N] [--match round|arrival]
// FILE is JSON (an array of rounds) or a module whose default export is a script. The first line of output is {"listening":PORT}.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { startModelServer } from "./model-server.ts";
import type { Script } from "./model-server-script.ts";

const { values } = parseArgs({
  options: { script: { type: "string" }, port: { type: "string" }, match: { type: "string" } },
});

async function load(file: string): Promise<Script> {
  if (file.endsWith(".json")) return JSON.parse(await readFile(file, "utf8"));
  return (await import(pathToFileURL(resolve(file)).href)).default;
}

const server = await startModelServer({
  script: values.script ? await load(values.script) : [],
  port: Number(values.port ?? 0),
  match: values.match === "arrival" ? "arrival" : "round",
});
console.log(JSON.stringify({ listening: Number(new URL(server.url).port) }));
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    server.close().then(() => process.exit(0));
  });
}
