// Writes schema/settings.schema.json from src/settings/schema.ts. A test says when it is out of date.
import fs from "node:fs";
import path from "node:path";
import { settingsJsonSchema } from "../src/settings/schema.ts";

const file = path.join(import.meta.dirname, "../schema/settings.schema.json");
fs.mkdirSync(path.dirname(file), { recursive: true });
fs.writeFileSync(file, `${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
