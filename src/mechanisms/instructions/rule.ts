// A rule: instructions whose front matter says for which paths of the project they are.
import { readFrontMatter } from "../../definitions/front-matter.ts";

/** `paths` is a list, or one line with commas between. Contract: a file without front matter is for all paths; `says`: it cannot be read. */
export function readRule(text: string): { text: string; paths?: string[] } | { says: string } {
  if (!text.startsWith("---")) return { text };
  const front = readFrontMatter(text, { keys: ["paths"], texts: [] });
  if ("says" in front) return { says: `line ${front.line}: ${front.says}` };
  const { value } = front.values.paths ?? {};
  const given = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value.map(String) : [];
  const paths = given.map((path) => path.trim()).filter((path) => path !== "");
  return { text: front.body, ...(paths.length > 0 && { paths }) };
}
