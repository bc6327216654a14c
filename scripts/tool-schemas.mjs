// Part of the build: a tool's schema as JSON, beside the function that makes it, so that no start has to build twenty schemas for the model.
import path from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { jsonOf } from "../src/loop/tool-specs.ts";

/** Contract: a schema that depends on more than `z` and what the file imports stays as it is, and is shown as it is built. */
export const toolSchemas = {
  name: "tool-schemas",
  async transform(code, id) {
    if (!/\bdefineTool\b/.test(code) || !code.includes("schema: () =>")) return undefined;
    const program = this.parse(code, { lang: "ts" });
    const added = [];
    for (const { schema, end } of toolsIn(program)) {
      const json = await evaluate(code.slice(schema.start, schema.end), program, id);
      if (json) added.push({ at: end, text: `, json: ${JSON.stringify(json)}` });
    }
    if (added.length === 0) return undefined;
    return added.reduceRight((text, { at, text: json }) => text.slice(0, at) + json + text.slice(at), code);
  },
};

/** The object literals with which tools are defined: the function of the schema, and where its property ends. */
function toolsIn(node, found = []) {
  if (Array.isArray(node)) for (const child of node) toolsIn(child, found);
  else if (node && typeof node === "object") {
    const property = (name) => node.properties.find((p) => p.key?.name === name);
    if (node.type === "ObjectExpression" && property("schema") && property("effect")) {
      found.push({ schema: property("schema").value, end: property("schema").end });
    }
    for (const child of Object.values(node)) toolsIn(child, found);
  }
  return found;
}

async function evaluate(source, program, id) {
  const scope = { z };
  for (const { type, importKind, specifiers, source: from } of program.body) {
    if (type !== "ImportDeclaration" || importKind === "type" || !from.value.startsWith(".")) continue;
    for (const { imported, local } of specifiers) {
      if (!new RegExp(`\\b${local.name}\\b`).test(source)) continue;
      const module = await import(pathToFileURL(path.resolve(path.dirname(id), from.value)).href);
      scope[local.name] = module[imported.name];
    }
  }
  try {
    return jsonOf(new Function(...Object.keys(scope), `return (${source})();`)(...Object.values(scope)));
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
