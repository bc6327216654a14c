import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HookConfig } from "../../src/mechanisms/hooks/config.ts";
import { settingsFiles, settingsPlaces } from "../../src/settings/files.ts";
import type { Settings } from "../../src/settings/types.ts";
import type { RuleText } from "../../src/shell-policy/types.ts";
import { type Desk, hookOf, openDesk } from "./desk.ts";

const NOTHING: Settings = {
  permissions: { allow: [], ask: [], deny: [], additionalDirectories: [] },
  hooks: {},
  sandbox: { readable: [], writable: [] },
  env: {},
  providers: {},
  models: {},
  mcpServers: {},
  plugins: [],
  budget: {},
  backup: {},
  contexts: {},
  memory: { extract: false },
  worktree: { link: [] },
  disableAllHooks: false,
};

describe("the scopes of settings", () => {
  let desk: Desk;
  beforeEach(() => {
    desk = openDesk();
  });
  afterEach(() => desk.close());

  it("give nothing and say nothing when there are no files", async () => {
    const loaded = await desk.load();
    expect(loaded).toEqual({
      settings: NOTHING,
      trusted: false,
      withheld: [],
      warnings: [],
      givenRules: { deny: [], ask: [] },
      executables: [],
      files: expect.arrayContaining([{ file: desk.userFile, scope: "user", state: "absent" }]),
    });
    expect(fs.existsSync(path.join(desk.dir, "state"))).toBe(false);
  });

  it("win in their order: managed, command line, local, project, user", async () => {
    const scopes = [
      "config/holdfast/settings.json",
      "repo/.holdfast/settings.json",
      "repo/.holdfast/settings.local.json",
    ];
    const seen: (string | undefined)[] = [];
    const look = async (commandLine?: { model: string }) =>
      seen.push((await desk.load({ trustFlag: true, commandLine })).settings.model);
    for (const file of scopes) {
      desk.put(file, { model: `x/${file}`, fallbackModels: [`y/${file}`] });
      await look();
    }
    await look({ model: "x/flag" });
    desk.put("managed.json", { model: "x/managed" });
    await look({ model: "x/flag" });
    expect(seen).toEqual([...scopes.map((file) => `x/${file}`), "x/flag", "x/managed"]);
    expect((await desk.load()).settings.fallbackModels).toEqual(["y/repo/.holdfast/settings.local.json"]);
  });

  it("join rules and hooks of every file, each with its source and base", async () => {
    desk.put("managed.json", { permissions: { deny: ["Read(//etc/**)"] }, hooks: { Stop: [hookOf("managed")] } });
    desk.put("repo/.holdfast/settings.local.json", { permissions: { allow: ["Bash(a)"] } });
    desk.put("repo/.holdfast/settings.json", { permissions: { deny: ["Edit(/dist/**)"], ask: ["Bash(git push *)"] } });
    desk.put("repo/.claude/settings.local.json", { permissions: { allow: ["Bash(b)"] } });
    desk.put("repo/.claude/settings.json", {
      permissions: { allow: ["Bash(c)"] },
      hooks: { Stop: [hookOf("claude")] },
    });
    desk.put("config/holdfast/settings.json", { permissions: { allow: ["Bash(d)"] } });
    desk.put("home/.claude/settings.json", {
      permissions: { allow: ["Bash(e)"], additionalDirectories: ["~/notes"] },
      hooks: { PreToolUse: [hookOf("check", "Bash|Edit")] },
      model: "opus",
      env: { ANTHROPIC_BASE_URL: "https://elsewhere" },
    });
    const commandLine = { permissions: { deny: ["Bash(rm *)"], additionalDirectories: ["../beside"] } };
    const { settings, warnings } = await desk.load({ trustFlag: true, commandLine });
    const { root, home, userFile } = desk;
    const fromHome = path.join(home, ".claude/settings.json");
    const managed = path.join(desk.dir, "managed.json");
    const allow: RuleText[] = settings.permissions.allow; // the mechanisms take them as they are
    const hooks: HookConfig = settings.hooks;
    expect(Object.keys(hooks)).toEqual(["Stop", "PreToolUse"]);
    expect(allow).toEqual([
      { text: "Bash(a)", source: ".holdfast/settings.local.json", base: root },
      { text: "Bash(b)", source: ".claude/settings.local.json", base: root },
      { text: "Bash(c)", source: ".claude/settings.json", base: root },
      { text: "Bash(d)", source: userFile, base: home },
      { text: "Bash(e)", source: fromHome, base: home },
    ]);
    expect({ ...settings, permissions: { ...settings.permissions, allow: [] } }).toEqual({
      ...NOTHING,
      permissions: {
        allow: [],
        ask: [{ text: "Bash(git push *)", source: ".holdfast/settings.json", base: root }],
        deny: [
          { text: "Read(//etc/**)", source: managed, base: "/" },
          { text: "Bash(rm *)", source: "the command line", base: root },
          { text: "Edit(/dist/**)", source: ".holdfast/settings.json", base: root },
        ],
        additionalDirectories: [path.join(desk.dir, "beside"), path.join(home, "notes")],
      },
      hooks: {
        Stop: [
          { ...hookOf("managed"), source: managed, scope: "managed" },
          { ...hookOf("claude"), source: ".claude/settings.json", scope: "project claude" },
        ],
        PreToolUse: [{ ...hookOf("check", "Bash|Edit"), source: fromHome, scope: "user claude" }],
      },
    });
    expect(warnings).toEqual([]);
  });

  it("take providers and variables name by name, each entry whole", async () => {
    desk.put("managed.json", { providers: { a: { baseUrl: "https://managed" } }, env: { ONE: "managed" } });
    desk.put("config/holdfast/settings.json", {
      providers: { a: { apiKeyEnv: "A_KEY" }, b: { apiKeyEnv: "B_KEY" } },
      env: { ONE: "user", TWO: "user" },
      proxy: "http://127.0.0.1:3128",
    });
    const { settings } = await desk.load();
    expect(settings).toEqual({
      ...NOTHING,
      providers: { a: { baseUrl: "https://managed" }, b: { apiKeyEnv: "B_KEY" } },
      env: { ONE: "managed", TWO: "user" },
      proxy: "http://127.0.0.1:3128",
    });
  });

  it("say how long contexts are kept: a number and m, h, d or w", async () => {
    const seen = [];
    for (const ttl of ["90m", "12h", "30d", "1.5 w"]) {
      desk.put("config/holdfast/settings.json", { contexts: { ttl } });
      seen.push((await desk.load()).settings.contexts.ttlMs);
    }
    expect(seen).toEqual([5_400_000, 43_200_000, 2_592_000_000, 907_200_000]);
    const problems = [];
    for (const ttl of ["30", "0d", "soon", "5 s"]) {
      desk.put("config/holdfast/settings.json", { contexts: { ttl } });
      problems.push(...(await desk.problems()));
    }
    const says = "config/holdfast/settings.json:3:12: `contexts.ttl`: give a time such as 12h, 30d or 8w";
    expect(problems).toEqual([says, says, says, says]);
  });

  it("switch hooks off as far as the one who says so may: managed all, the user all but managed, a repository its own", async () => {
    const files = ["managed.json", "repo/.holdfast/settings.json", "config/holdfast/settings.json"];
    const ran = async (off: string | undefined) => {
      for (const file of files) {
        desk.put(file, { hooks: { Stop: [hookOf(file)] }, ...(file === off ? { disableAllHooks: true } : {}) });
      }
      const { settings } = await desk.load({ trustFlag: true });
      return (settings.hooks.Stop ?? []).map((group) => group.hooks[0]!.command);
    };
    expect([await ran(undefined), await ran(files[0]), await ran(files[1]), await ran(files[2])]).toEqual([
      files,
      [],
      [files[0], files[2]],
      [files[0]],
    ]);
    desk.put("home/.claude/settings.json", { disableAllHooks: true, hooks: { Stop: [hookOf("of Claude")] } });
    expect(await ran(undefined)).toEqual(files);
  });

  it("leave alone what only Claude Code knows, and say which gates are missing", async () => {
    desk.put("home/.claude/settings.json", {
      permissions: {
        allow: ["Bash(ls)", "Odd((", "Read"],
        defaultMode: "bypassPermissions",
        disableBypassPermissionsMode: "x",
      },
      hooks: {
        ConfigChange: [hookOf("x")],
        SwarmSpawned: [hookOf("x")],
        PreToolUse: [
          {
            matcher: "Bash",
            hooks: [
              { type: "prompt", prompt: "ok?" },
              { type: "command", command: "c", shell: "bash" },
              { type: "command", command: "d", shell: "powershell" },
            ],
          },
        ],
      },
      statusLine: { type: "command" },
      enabledPlugins: {},
    });
    const checkRule = (text: string) =>
      text.includes("((") ? "the rule `Odd((` cannot be used: close the parenthesis" : undefined;
    const { settings, warnings } = await desk.load({ checkRule });
    expect(settings.permissions.allow.map((rule) => rule.text)).toEqual(["Bash(ls)", "Read"]);
    expect(settings.permissions.defaultMode).toBeUndefined();
    expect(settings.hooks.PreToolUse).toEqual([
      expect.objectContaining({ matcher: "Bash", hooks: [{ type: "command", command: "c", shell: "bash" }] }),
    ]);
    expect(warnings.map((line) => line.replaceAll(`${desk.dir}/`, ""))).toEqual([
      "home/.claude/settings.json:5:7: the rule `Odd((` cannot be used: close the parenthesis (left out)",
      'home/.claude/settings.json:9:37: `disableBypassPermissionsMode` is not used: it can only be "disable"',
      "home/.claude/settings.json:12:21: hooks for `ConfigChange` are not run: settings are read once, at the start",
      "home/.claude/settings.json:22:21: hooks for `SwarmSpawned` are not run: Holdfast has no such event",
      "home/.claude/settings.json:36:11: a hook of type `prompt` is not run: Holdfast runs commands",
      "home/.claude/settings.json:48:22: a hook for the shell `powershell` is not run: hooks run under bash or sh",
      "home/.claude/settings.json:8:5: bypassPermissions is for Claude Code and not used; put it into config/holdfast/settings.json if you want it here",
    ]);
  });

  it("hear whoever switches bypassing off: what a person asks for is refused, a default is left out", async () => {
    const off = { permissions: { disableBypassPermissionsMode: "disable" } };
    const asks = { commandLine: { permissions: { defaultMode: "bypass" as const } } };
    const files = [
      ...["managed.json", "repo/.holdfast/settings.json", "repo/.claude/settings.local.json"],
      ...["config/holdfast/settings.json", "home/.claude/settings.json"],
    ];
    for (const file of files) {
      desk.put(file, off);
      const refused = await desk.load({ ...asks, trustFlag: true }).catch((error) => error);
      const shown = refused.message.replaceAll(`${desk.dir}/`, "");
      expect([refused.code, shown]).toEqual([
        "refused",
        `${file.replace("repo/", "")}:3:5 switches bypassing permissions off: use another mode, such as --permission-mode auto`,
      ]);
      const { settings } = await desk.load({ commandLine: { permissions: { defaultMode: "auto" } } });
      expect(settings.permissions.defaultMode).toBe("auto");
      desk.put(file, {});
    }
    desk.put("config/holdfast/settings.json", { permissions: { defaultMode: "bypassPermissions" } });
    desk.put("repo/.claude/settings.json", off);
    const { settings, warnings } = await desk.load();
    expect([settings.permissions.defaultMode, warnings]).toEqual([
      "default",
      [
        ".claude/settings.json:3:5 switches bypassing permissions off: the mode is default instead of bypassPermissions",
      ],
    ]);
  });

  it("warn of hooks that nothing runs, by file and event, also in our own files", async () => {
    const hooks = { Setup: [hookOf("x")], Stop: [{ hooks: [{ type: "command", command: "s", shell: "/bin/zsh" }] }] };
    desk.put("config/holdfast/settings.json", { hooks });
    const { settings, warnings } = await desk.load();
    expect(settings.hooks).toEqual({ Stop: [{ hooks: [], source: desk.userFile, scope: "user" }] });
    expect(warnings.map((line) => line.replaceAll(`${desk.dir}/`, ""))).toEqual([
      "config/holdfast/settings.json:3:14: hooks for `Setup` are not run: there is no --init and no --maintenance",
      "config/holdfast/settings.json:19:22: a hook for the shell `/bin/zsh` is not run: hooks run under bash or sh",
    ]);
  });

  it("read the home's .claude as the person's own when the home itself is the project", async () => {
    desk.put("home/.claude/settings.json", { permissions: { allow: ["Bash(ls)"] } });
    const { settings, withheld } = await desk.load({ root: desk.home });
    expect([settings.permissions.allow.length, withheld]).toEqual([1, []]);
  });

  it("stand where XDG says; a relative XDG_CONFIG_HOME is ignored", () => {
    expect(settingsPlaces({ HOME: "/h", XDG_CONFIG_HOME: "/c" }).configHome).toBe("/c");
    expect(
      settingsFiles("/r", settingsPlaces({ HOME: "/h", XDG_CONFIG_HOME: "./c" })).map((place) => place.file),
    ).toEqual([
      "/etc/holdfast/settings.json",
      "/r/.holdfast/settings.local.json",
      "/r/.holdfast/settings.json",
      "/r/.claude/settings.local.json",
      "/r/.claude/settings.json",
      "/h/.config/holdfast/settings.json",
      "/h/.claude/settings.json",
    ]);
  });
});
