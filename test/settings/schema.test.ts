import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { withHookTable } from "../../scripts/hook-table.ts";
import { HOOK_EVENTS } from "../../src/claude-code/hook-events.ts";
import { settingsJsonSchema } from "../../src/settings/schema.ts";
import { openDesk } from "./desk.ts";

const root = path.join(import.meta.dirname, "../..");

describe("the schema of settings", () => {
  it("is published as it is: run `node scripts/generate.mjs` after a change", () => {
    const published = fs.readFileSync(path.join(root, "schema/settings.schema.json"), "utf8");
    expect(published).toBe(`${JSON.stringify(settingsJsonSchema(), null, 2)}\n`);
    const { files } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as { files: string[] };
    expect(files).toContain("schema");
  });

  it("is written down: docs/hooks.md has the events as they are (`node scripts/generate.mjs` writes them), and docs/settings.md every key", () => {
    const events = fs.readFileSync(path.join(root, "docs/hooks.md"), "utf8");
    expect(withHookTable(events)).toBe(events);
    expect(HOOK_EVENTS.filter((event) => !events.includes(`\`${event}\``))).toEqual([]);
    const page = fs.readFileSync(path.join(root, "docs/settings.md"), "utf8");
    const { properties } = settingsJsonSchema() as { properties: Record<string, object> };
    expect(Object.keys(properties).filter((key) => !page.includes(`\`${key}`))).toEqual([]);
  });

  it("is loaded only when there is a file: without one, zod stays where it is", () => {
    const desk = openDesk();
    const loads = () =>
      execFileSync(
        process.execPath,
        [
          "--input-type=module",
          "-e",
          `import { registerHooks } from "node:module";
           let zod = false;
           registerHooks({ resolve(spec, context, next) { if (spec === "zod") zod = true; return next(spec, context); } });
           const { loadSettings } = await import(${JSON.stringify(path.join(root, "src/settings/load.ts"))});
           const { openTrust } = await import(${JSON.stringify(path.join(root, "src/settings/trust.ts"))});
           const at = (p) => ${JSON.stringify(desk.dir)} + p;
           await loadSettings({ root: at("/repo"), home: at("/home"), configHome: at("/config"), managedFile: at("/m"), trust: openTrust(at("/t")) });
           console.log(zod);`,
        ],
        { encoding: "utf8" },
      ).trim();
    const without = loads();
    desk.put("config/holdfast/settings.json", {});
    expect([without, loads()]).toEqual(["false", "true"]);
    desk.close();
  });
});
