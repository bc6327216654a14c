// A person's desk for a test: home, configuration, managed file, one repository, a trust file.
import fs from "node:fs";
import path from "node:path";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { type LoadedSettings, type LoadOptions, loadSettings } from "../../src/settings/load.ts";
import { openTrust, type Trust } from "../../src/settings/trust.ts";
import { tempDir } from "../house.ts";

export interface Desk {
  dir: string;
  root: string;
  home: string;
  userFile: string;
  trust: Trust;
  /** Writes a file: `repo/…`, `home/…`, `config/…`, `managed.json`; an object as JSON. */
  put(file: string, content: unknown): void;
  load(more?: Partial<LoadOptions>): Promise<LoadedSettings>;
  /** The lines that loading fails with. */
  problems(more?: Partial<LoadOptions>): Promise<string[]>;
  close(): void;
}

export function openDesk(): Desk {
  const dir = tempDir("settings");
  const at = (...p: string[]) => path.join(dir, ...p);
  for (const folder of ["repo", "home", "config"]) fs.mkdirSync(at(folder));
  const trust = openTrust(at("state", "trust.json"));
  const places = { home: at("home"), configHome: at("config"), managedFile: at("managed.json") };
  const load = (more: Partial<LoadOptions> = {}) => loadSettings({ root: at("repo"), ...places, trust, ...more });
  return {
    dir,
    root: at("repo"),
    home: at("home"),
    userFile: at("config/holdfast/settings.json"),
    trust,
    put(file, content) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), typeof content === "string" ? content : JSON.stringify(content, null, 2));
    },
    load,
    async problems(more) {
      try {
        await load(more);
        return [];
      } catch (error) {
        if (!isHoldfastError(error, "invalid")) throw error;
        const { problems } = (error.detail ?? { problems: [error.message] }) as { problems: string[] };
        return problems.map((line) => line.replaceAll(`${dir}/`, ""));
      }
    },
    close: () => fs.rmSync(dir, { recursive: true, force: true }),
  };
}

/** A hook group as files have it. */
export const hookOf = (command: string, matcher?: string) => ({
  ...(matcher ? { matcher } : {}),
  hooks: [{ type: "command" as const, command }],
});
