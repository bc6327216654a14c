// Which view an address means, and which address a view has. Addresses stand behind the #: they never reach the server.
import type { ContextKey } from "../api.ts";

export const CONTEXT_VIEWS = [
  "transcript",
  "timeline",
  "messages",
  "data",
  "checkpoints",
  "files",
  "usage",
  "costs",
  "requests",
] as const;

export type ContextViewName = (typeof CONTEXT_VIEWS)[number];

/** A round of an agent, counted from 1: its request can be looked at. */
export interface Round {
  agent: string;
  n: number;
}

export type Route =
  | { kind: "home" }
  | { kind: "project"; project: string }
  | ({ kind: "context"; view: ContextViewName; seq?: number; round?: Round } & ContextKey)
  | { kind: "unknown"; address: string };

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter((part) => part !== "");
  const names = parts.map(decoded);
  if (names.includes(undefined)) return { kind: "unknown", address: hash };
  const [first, project, third, context, more] = names as string[];
  if (first === undefined) return { kind: "home" };
  if (first !== "p" || project === undefined || more !== undefined) return { kind: "unknown", address: hash };
  if (third === undefined) return { kind: "project", project };
  if (third !== "c" || context === undefined) return { kind: "unknown", address: hash };
  const asked = new URLSearchParams(query);
  const view = CONTEXT_VIEWS.find((name) => name === asked.get("view")) ?? "transcript";
  const seq = countIn(asked, "seq");
  const [agent, n] = [asked.get("agent"), countIn(asked, "n")];
  const round = agent !== null && n !== undefined && { round: { agent, n } };
  return { kind: "context", project, context, view, ...(seq !== undefined && { seq }), ...round };
}

export function addressOf(route: Route): string {
  switch (route.kind) {
    case "home":
      return "#/";
    case "project":
      return `#/p/${encodeURIComponent(route.project)}`;
    case "context": {
      const asked = new URLSearchParams();
      if (route.view !== "transcript") asked.set("view", route.view);
      if (route.seq !== undefined) asked.set("seq", String(route.seq));
      if (route.round) {
        asked.set("agent", route.round.agent);
        asked.set("n", String(route.round.n));
      }
      const query = asked.size > 0 ? `?${asked}` : "";
      return `#/p/${encodeURIComponent(route.project)}/c/${encodeURIComponent(route.context)}${query}`;
    }
    case "unknown":
      return route.address;
  }
}

function countIn(asked: URLSearchParams, name: string): number | undefined {
  const digits = /^\d{1,15}$/.exec(asked.get(name) ?? "")?.[0];
  return digits === undefined ? undefined : Number(digits);
}

/** Undefined for what is no address: a lone `%`. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
