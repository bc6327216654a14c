// Finds decisions by text: a comparison, a pattern or a switch on what came from `reason`, `message` or `text` of another object.
import { parseAst } from "rolldown/parseAst";

export interface Decision {
  line: number;
  /** Which of the three it came from. */
  from: Said;
  code: string;
}

export type Said = "reason" | "message" | "text";
const SAID = new Set<string>(["reason", "message", "text"] satisfies Said[]);

/** They look into a text. */
const LOOKS = new Set(
  "includes startsWith endsWith match matchAll search indexOf lastIndexOf localeCompare".split(" "),
);
/** They give another form of the same text. */
const FORMS = new Set(
  "trim trimStart trimEnd slice substring substr at charAt toLowerCase toUpperCase normalize replace replaceAll split concat toString".split(
    " ",
  ),
);
/** They ask whether they know the text they are given. */
const KNOWS = new Set(["includes", "has", "indexOf", "test", "exec", "get", "hasOwn"]);
const COMPARES = new Set(["===", "!==", "==", "!=", "<", ">", "<=", ">="]);

// biome-ignore lint/suspicious/noExplicitAny: nodes of every kind
type Node = any;
/** Where a name came from, or undefined for one that hides an outer name. */
type Scope = Map<string, Said | undefined>;

export function decisionsIn(source: string, lang: "ts" | "tsx" = "ts"): Decision[] {
  const found: Decision[] = [];
  const scopes: Scope[] = [new Map()];

  const lookup = (name: string): Said | undefined => scopes.findLast((scope) => scope.has(name))?.get(name);
  const declare = (name: string, from: Said | undefined) => scopes.at(-1)!.set(name, from);
  const report = (node: Node, from: Said) =>
    found.push({
      line: source.slice(0, node.start).split("\n").length,
      from,
      code: source.slice(node.start, node.end).replace(/\s+/g, " ").slice(0, 120),
    });

  const keyOf = (node: Node, computed: boolean): string | undefined =>
    computed ? (node?.type === "Literal" ? String(node.value) : undefined) : node?.name;

  /** What the value came from, if it is one of the three or a form of it. */
  function origin(node: Node): Said | undefined {
    switch (node?.type) {
      case "Identifier":
        return lookup(node.name);
      case "MemberExpression": {
        const key = keyOf(node.property, node.computed);
        if (key !== undefined && SAID.has(key)) return key as Said;
        return node.computed && key === undefined ? origin(node.object) : undefined; // `reason.split(" ")[0]`
      }
      case "ChainExpression":
      case "TSNonNullExpression":
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "ParenthesizedExpression":
        return origin(node.expression);
      case "AwaitExpression":
        return origin(node.argument);
      case "LogicalExpression":
        return origin(node.left) ?? origin(node.right);
      case "ConditionalExpression":
        return origin(node.consequent) ?? origin(node.alternate);
      case "AssignmentExpression":
        return origin(node.right);
      case "TemplateLiteral":
        return node.expressions.map(origin).find((from: Said | undefined) => from !== undefined);
      case "CallExpression": {
        const { callee } = node;
        if (callee.type === "Identifier" && callee.name === "messageOf") return "message";
        if (callee.type === "Identifier" && callee.name === "String") return origin(node.arguments[0]);
        if (callee.type !== "MemberExpression") return undefined;
        return FORMS.has(callee.property?.name) ? origin(callee.object) : undefined;
      }
      default:
        return undefined;
    }
  }

  /** Whether something is there at all is no decision by what it says. */
  const isPresence = (node: Node): boolean =>
    (node.type === "Identifier" && node.name === "undefined") ||
    (node.type === "Literal" && (node.value === null || node.value === ""));

  function bind(pattern: Node, from: Said | undefined): undefined {
    switch (pattern?.type) {
      case "Identifier":
        declare(pattern.name, from);
        return undefined;
      case "AssignmentPattern":
        return bind(pattern.left, from);
      case "TSParameterProperty":
        return bind(pattern.parameter, from);
      case "RestElement":
        return bind(pattern.argument, undefined);
      case "ArrayPattern":
        for (const element of pattern.elements) if (element) bind(element, undefined);
        return undefined;
      case "ObjectPattern":
        for (const property of pattern.properties) {
          if (property.type === "RestElement") bind(property, undefined);
          else {
            const key = keyOf(property.key, property.computed || property.key.type === "Literal");
            bind(property.value, key !== undefined && SAID.has(key) ? (key as Said) : undefined);
          }
        }
    }
  }

  function look(node: Node): void {
    if (node.type === "BinaryExpression" && COMPARES.has(node.operator)) {
      const from = origin(node.left) ?? origin(node.right);
      if (from && !isPresence(node.left) && !isPresence(node.right)) report(node, from);
    } else if (node.type === "SwitchStatement") {
      const from = origin(node.discriminant);
      if (from) report(node.discriminant, from);
    } else if (node.type === "CallExpression" && node.callee.type === "MemberExpression") {
      const method = node.callee.property?.name;
      const from =
        (LOOKS.has(method) ? origin(node.callee.object) : undefined) ??
        (KNOWS.has(method) ? node.arguments.map(origin).find((one: Said | undefined) => one !== undefined) : undefined);
      if (from) report(node, from);
    } else if (node.type === "MemberExpression" && node.computed) {
      const from = origin(node.property);
      if (from) report(node, from);
    }
  }

  function walk(node: Node): void {
    if (Array.isArray(node)) {
      for (const one of node) walk(one);
      return;
    }
    if (node === null || typeof node !== "object" || typeof node.type !== "string") return;
    const isFunction = /Function|ArrowFunction/.test(node.type) && Array.isArray(node.params);
    const opens = isFunction || /^(?:BlockStatement|For\w*Statement|CatchClause)$/.test(node.type);
    if (opens) scopes.push(new Map());
    if (isFunction) for (const param of node.params) bind(param, undefined);
    if (node.type === "CatchClause" && node.param) bind(node.param, undefined);
    if (node.type === "VariableDeclarator") bind(node.id, node.init ? origin(node.init) : undefined);
    look(node);
    for (const [key, child] of Object.entries(node)) if (key !== "type") walk(child);
    if (node.type === "AssignmentExpression" && node.left.type === "Identifier" && node.operator === "=") {
      const from = origin(node.right);
      const scope = scopes.findLast((one) => one.has(node.left.name));
      if (from) (scope ?? scopes.at(-1)!).set(node.left.name, from);
    }
    if (opens) scopes.pop();
  }

  walk(parseAst(source, { lang }));
  return found;
}
