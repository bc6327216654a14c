// Writes what is kept in the repository and made from the sources: schema/settings.schema.json, the table of docs/hooks.md.
// A test says when one of them is out of date.
import fs from "node:fs";
import path from "node:path";
import { settingsJsonSchema } from "../src/settings/schema.ts";
import { withHookTable } from "./hook-table.ts";

const at = (file) => path.join(import.meta.dirname, "..", file);
fs.mkdirSync(at("schema"), { recursive: true });
fs.writeFileSync(at("schema/settings.schema.json"), `${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
fs.writeFileSync(at("docs/hooks.md"), withHookTable(fs.readFileSync(at("docs/hooks.md"), "utf8")));
