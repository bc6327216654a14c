// The POML subset: which elements there are, where they may stand and what attributes they take.

const SECTIONS = ["poml", "role", "task", "output-format", "example"] as const;
const TEXTUAL = [...SECTIONS, "p", "item", "b", "i"] as const;

interface Rule {
  attributes: readonly string[];
  /** The elements it may stand in; none: only at the top of the file. */
  inside: readonly string[];
  /** What it holds: blocks and text, text with emphasis, plain text, items, nothing. */
  holds: "blocks" | "inline" | "text" | "items" | "nothing";
}

const section: Rule = { attributes: ["caption", "if", "for"], inside: SECTIONS, holds: "blocks" };

export const TAGS = {
  poml: { attributes: [], inside: [], holds: "blocks" },
  role: section,
  task: section,
  "output-format": section,
  example: section,
  let: { attributes: ["name", "src", "if"], inside: [...SECTIONS, "p", "list", "item"], holds: "text" },
  include: { attributes: ["src", "if", "for"], inside: SECTIONS, holds: "nothing" },
  p: { attributes: ["if", "for"], inside: [...SECTIONS, "item"], holds: "blocks" },
  list: { attributes: ["listStyle", "if", "for"], inside: [...SECTIONS, "p", "item"], holds: "items" },
  item: { attributes: ["if", "for"], inside: ["list"], holds: "blocks" },
  b: { attributes: ["if", "for"], inside: TEXTUAL, holds: "inline" },
  i: { attributes: ["if", "for"], inside: TEXTUAL, holds: "inline" },
  code: { attributes: ["lang", "inline", "if", "for"], inside: TEXTUAL, holds: "text" },
} satisfies Record<string, Rule>;

export type Tag = keyof typeof TAGS;

export const isTag = (name: string): name is Tag => Object.hasOwn(TAGS, name);
export const tagRule = (tag: Tag): Rule => TAGS[tag];

export const CAPTIONS: Partial<Record<Tag, string>> = {
  role: "Role",
  task: "Task",
  "output-format": "Output Format",
  example: "Example",
};

export const LIST_STYLES = ["dash", "star", "plus", "decimal", "latin"] as const;
export type ListStyle = (typeof LIST_STYLES)[number];

export const listOf = (names: readonly string[]): string => names.map((name) => `<${name}>`).join(" ");
