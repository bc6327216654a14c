// Sees servers for the first time, one after the other, and says of each what may be shown of it.
import fs from "node:fs";
import type { ToolDefinition } from "../../../src/mechanisms/mcp/offer.ts";
import { openPins } from "../../../src/mechanisms/mcp/pins.ts";

const [file, name, times] = process.argv.slice(2);
const pins = openPins(file!);
const definition = (description: string): ToolDefinition => ({
  ...{ tool: "look", description, schema: {}, readOnly: true },
  hash: description,
});
for (let i = 0; i < Number(times); i++) {
  await pins.shown(`${name}-${i}`, [definition(name!)]);
  const { tools } = await pins.shown(`all-${i}`, [definition(name!)]);
  fs.writeSync(1, `${i} ${tools[0]!.hash}\n`);
}
