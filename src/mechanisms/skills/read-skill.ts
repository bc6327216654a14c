// Reading one skill or command: Markdown with front matter. What breaks the published rules is said; the skill is used all the same.
import { basename, dirname } from "node:path";
import { plainFrontMatter } from "../../definitions/plain-front-matter.ts";
import { hashOf } from "../../file-access/seen-files.ts";
import type { Skill } from "./skill.ts";

export interface ReadSkill {
  skill?: Skill;
  problems: string[];
}

/** Where the file was found. */
export interface SkillFile {
  file: string;
  source: string;
  kind: "skill" | "command";
  /** Of a command: its name by its place, such as `frontend:component`; of a skill its folder's. */
  name: string;
  repository: boolean;
  pluginRoot?: string;
  /** Before the name: the plugin's. */
  prefix?: string;
}

const KEYS = [
  ..."name description license compatibility metadata allowed-tools argument-hint arguments model".split(" "),
  ..."disable-model-invocation user-invocable context agent paths version disallowed-tools hooks".split(" "),
];
const TEXTS = ["description", "argument-hint", "allowed-tools", "compatibility"];
const LONGEST_DESCRIPTION = 1024;

export async function readSkill(text: string, at: SkillFile): Promise<ReadSkill> {
  const { source, kind, repository } = at;
  const whole = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const front = whole.startsWith("---") ? await frontOf(whole) : { values: {}, body: whole, guessed: [] };
  if ("says" in front) return { problems: [`${source}:${front.line}: ${front.says}; it is left out`] };
  const { values, body } = front;
  const problems: string[] = [];
  const line = (key: string) => `${source}:${values[key]?.line ?? 1}`;
  const text_ = (key: string): string | undefined => {
    const value = values[key]?.value;
    return typeof value === "string"
      ? value.trim() || undefined
      : typeof value === "number"
        ? String(value)
        : undefined;
  };
  const given = kind === "skill" ? text_("name") : undefined;
  const isUsable = given !== undefined && isName(given);
  const bare = isUsable ? given : at.name;
  const name = `${at.prefix === undefined ? "" : `${at.prefix}:`}${bare}`;
  if (!isName(name))
    return { problems: [`${source}: ${JSON.stringify(name)} cannot be a skill's name: rename it; it is left out`] };
  if (isUsable)
    problems.push(...wrongName(given, basename(dirname(at.file))).map((says) => `${line("name")}: ${says}`));
  else if (given !== undefined)
    problems.push(`${line("name")}: ${JSON.stringify(given)} cannot be typed as /name: it is called ${bare}`);
  const description = text_("description") ?? firstLine(body);
  if (kind === "skill" && values.description === undefined)
    problems.push(`${source}: description is missing: its first line stands for it`);
  if (description.length > LONGEST_DESCRIPTION)
    problems.push(
      `${line("description")}: ${description.length} characters, more than the ${LONGEST_DESCRIPTION} that other programs take`,
    );
  const hint = text_("argument-hint");
  let hash: string | undefined;
  const skill: Skill = {
    name,
    description,
    source,
    ...(kind === "skill" && { folder: dirname(at.file) }),
    body: body.trim(),
    /** Asked for only where it is loaded, or trusted. */
    get hash() {
      hash ??= hashOf(Buffer.from(text));
      return hash;
    },
    repository,
    ...(hint !== undefined && { argumentHint: hint }),
    argumentNames: listOf(values.arguments?.value).filter((one) => /^[A-Za-z_]\w*$/.test(one)),
    onlyByPerson: values["disable-model-invocation"]?.value === true,
    onlyByModel: values["user-invocable"]?.value === false,
    allowedTools: toolsOf(values["allowed-tools"]?.value),
    ...(at.pluginRoot !== undefined && { pluginRoot: at.pluginRoot }),
  };
  return { skill, problems };
}

/** YAML is loaded for the first that needs it. */
const frontOf = async (text: string) =>
  plainFrontMatter(text) ??
  (await import("../../definitions/front-matter.ts")).readFrontMatter(text, { keys: KEYS, texts: TEXTS });

/** What can be typed behind a slash, and is no path. */
const isName = (name: string): boolean => !/[\s<>/\\]/.test(name) && name !== "" && name.length <= 130;

/** The rules of agentskills.io. */
function wrongName(name: string, folder: string): string[] {
  return [
    ...(/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && name.length <= 64
      ? []
      : [`the name ${name} is not of small letters, digits and single -, at most 64`]),
    ...(name === folder ? [] : [`the name ${name} is not that of its folder, ${folder}`]),
  ];
}

const firstLine = (body: string): string =>
  (body.split("\n").find((line) => line.trim() !== "") ?? "")
    .replace(/^#+\s*/, "")
    .trim()
    .slice(0, 200);

const listOf = (value: unknown): string[] =>
  (typeof value === "string" ? value.split(/[\s,]+/) : Array.isArray(value) ? value.map(String) : []).filter(Boolean);

/** Separated by blanks or commas, with rules in parentheses kept whole. */
const toolsOf = (value: unknown): string[] =>
  typeof value === "string"
    ? [...value.matchAll(/[^\s,(]+(?:\([^)]*\))?/g)].map(([tool]) => tool)
    : Array.isArray(value)
      ? value.map(String)
      : [];
