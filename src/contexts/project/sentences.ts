// The sentences about a project's identity: what changed, what only a person can tell, and what to do then.
import { shownMachine, thisMachine } from "../../ledger/holder.ts";
import type { Doubt, Namesake, News } from "./match.ts";

const STAYS = "its contexts, tasks and schedules are found again";

export function sayNews(news: News, id: string): string {
  const project = `(project ${id.slice(0, 8)})`;
  if (news.kind === "moved") return `this folder was ${news.from}: ${STAYS} ${project}`;
  if (news.kind === "repository") return `this folder has a git repository now: ${STAYS} ${project}`;
  return `this is a tree of the repository of ${news.of}: contexts, tasks and schedules are the same ${project}`;
}

export const sayNamesake = ({ id, path }: Namesake): string =>
  `nothing is known of this folder; ${path} is not there any more: if this is it, \`holdfast project adopt ${id.slice(0, 8)}\` goes on with its contexts, tasks and schedules`;

const DOUBTS: Record<Doubt, (path: string) => string> = {
  replaced: (path) => `another folder stood at ${path} when there was last work here`,
  repository: (path) => `${path} has another git directory than when there was last work here`,
  git_moved: (path) => `the git directory here was that of ${path}`,
  image: (path) => `this folder looks like a snapshot or an image of ${path}`,
  birthless: (path) =>
    `this folder may be ${path}, moved, but its file system tells no birth times, so nobody can be sure`,
};

/** Of a project on a server, where others worked before this folder did. */
export function sayJoined(url: string, { contexts, machines }: { contexts: number; machines: string[] }): string {
  const names = machines.map((one) => (one === thisMachine() ? "this one" : shownMachine(one)));
  const from =
    names.length === 0
      ? ""
      : ` from ${names.length === 1 ? "one machine" : `${names.length} machines`} (${names.join(", ")})`;
  const many = contexts === 1 ? "1 context" : `${contexts} contexts`;
  return `this folder works on ${url} from now on, which has ${many}${from}: if that is another repository's, give another project=NAME`;
}

export const sayTaken = (shown: string, { id, path }: { id: string; path: string }): string =>
  `${shown} is the project of ${path} (${id.slice(0, 8)}), which is another folder than this one`;

export const sayTakenChoice = ({ id }: { id: string }): string =>
  `\`holdfast project adopt ${id.slice(0, 8)}\` makes this folder one of it, another project=NAME in the address begins its own`;

export interface Doubted {
  doubt: Doubt;
  candidate: { id: string; path: string };
}

export const sayDoubt = ({ doubt, candidate: { id, path } }: Doubted): string =>
  `${DOUBTS[doubt](path)} (project ${id.slice(0, 8)})`;

export const sayChoice = ({ candidate: { id } }: Doubted): string =>
  `\`holdfast project adopt ${id.slice(0, 8)}\` goes on with its contexts, tasks and schedules, \`holdfast project adopt new\` begins anew`;
