import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Desk, openDesk } from "./desk.ts";

const USER = "config/holdfast/settings.json";

describe("a mistake in settings", () => {
  let desk: Desk;
  beforeEach(() => {
    desk = openDesk();
  });
  afterEach(() => desk.close());

  it("is not what only Claude Code has: its sandbox in any file, any key of it in settings that a program gives; each is said", async () => {
    const network = { allowedDomains: [], httpProxyPort: null };
    const sandbox = { enabled: true, autoAllowBashIfSandboxed: true, failIfUnavailable: true, network };
    desk.put(USER, { sandbox });
    const hook = { type: "command", command: "true", rewakeMessage: "look" };
    desk.put("home/.claude/settings.json", { sandbox, hooks: { Stop: [{ hooks: [hook] }] } });
    const permissions = { deny: ["WebFetch"], disableAutoMode: "disable" };
    const given = JSON.stringify({ permissions, allowManagedHooksOnly: true, sandbox: { ...sandbox, frobnicate: 1 } });
    const { settings, warnings } = await desk.load({ given });
    const none = (key: string) => `\`${key}\` has no effect: Holdfast has no such setting`;
    const ofSandbox = ["autoAllowBashIfSandboxed", "failIfUnavailable", "network"].map(
      (key) => `${none(`sandbox.${key}`)} of the sandbox`,
    );
    const said = (file: string) =>
      warnings.filter((line) => line.includes(file)).map((line) => line.replace(/^\S+:\d+:\d+: /, ""));
    expect([said("--settings"), said("config/holdfast"), said(".claude")]).toEqual([
      [
        none("permissions.disableAutoMode"),
        none("allowManagedHooksOnly"),
        ...ofSandbox,
        `${none("sandbox.frobnicate")} of the sandbox`,
      ],
      ofSandbox,
      [
        "`sandbox` has no effect in this file: commands run in Holdfast's own sandbox",
        "`rewakeMessage` of a hook has no effect: Holdfast does not know it",
      ],
    ]);
    expect([settings.sandbox.enabled, settings.permissions.deny]).toMatchObject([true, expect.anything()]);
    expect(await desk.problems({ given: '{"sandbox":{"enabld":true}}' })).toEqual([
      "--settings:1:13: unknown key `enabld` in `sandbox`: did you mean `enabled`?",
    ]);
    desk.put(USER, { sandbox: { frobnicate: 1 } });
    expect(await desk.problems()).toEqual([
      `${USER}:3:5: unknown key \`frobnicate\` in \`sandbox\`: take it out; known are enabled, network, readable, writable`,
    ]);
  });

  it("is one line with file, line, column and what to do; all of them at once, in their order", async () => {
    desk.put(
      USER,
      `{
  // mine
  "permisions": {},
  "permissions": {
    "allow": "Bash(ls)",
    "deny": ["Read(x)", 7],
    "defaultMode": "plann",
    "color": 1
  },
  "hooks": {
    "PreTooluse": [],
    "Stop": [{ "matcher": "(", "hooks": [{ "type": "prompt" }, { "type": "command", "timeout": 0, "command": "x" }] }]
  },
  "sandbox": { "enabled": "yes" },
  "model": null,
  "env": { "A-B": "1", "OK": 1 },
  "providers": { "mine": { "baseUrl": "ftp://x", "apiKey": "sk-1" } },
  "maxRounds": 0.5,
  "maxRounds": 3
}`,
    );
    const at = (place: string, says: string) => `${USER}:${place}: ${says}`;
    expect(await desk.problems()).toEqual([
      at("3:3", "unknown key `permisions`: did you mean `permissions`?"),
      at("5:14", "`permissions.allow` is text: give a list [ … ]"),
      at("6:25", "`permissions.deny[1]` is 7: give text in double quotes"),
      at(
        "7:20",
        '`permissions.defaultMode` is `plann`: give one of "default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "bypass"',
      ),
      at(
        "8:5",
        "unknown key `color` in `permissions`: take it out; known are allow, ask, deny, defaultMode, additionalDirectories, disableBypassPermissionsMode",
      ),
      at("11:5", "unknown key `PreTooluse` in `hooks`: did you mean `PreToolUse`?"),
      at(
        "12:27",
        "`hooks.Stop[0].matcher`: this is no regular expression: give names such as Edit|Write, or one that compiles",
      ),
      at("12:42", "`command` is missing here: add it"),
      at("12:52", '`hooks.Stop[0].hooks[0].type` is `prompt`: give "command"'),
      at("12:96", "`hooks.Stop[0].hooks[1].timeout`: give seconds above 0"),
      at("14:27", "`sandbox.enabled` is text: give true or false"),
      at("15:12", "`model` is null: give text in double quotes"),
      at("16:12", "`env.A-B`: give the name of a variable: letters, digits and _"),
      at("16:30", "`env.OK` is 1: give text in double quotes"),
      at("17:39", "`providers.mine.baseUrl`: give an address such as http://127.0.0.1:8000"),
      at("17:50", "unknown key `apiKey` in `providers.mine`: did you mean `apiKeyEnv`?"),
      at("19:3", "the key `maxRounds` stands in line 18 already: keep one"),
    ]);
    await expect(desk.load()).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/did you mean `permissions`\? \(and 16 more\)$/),
    });
  });

  it("in a rule is told in the words of the permission engine, also for the command line and the condition of a hook", async () => {
    const checkRule = (text: string) =>
      text.endsWith(")") ? undefined : `the rule \`${text}\` cannot be used: end it with )`;
    const hooks = { Stop: [{ hooks: [{ type: "command", command: "x", if: "Bash(git" }] }] };
    desk.put(USER, { permissions: { ask: ["Bash(a)", "Bash(b"] }, hooks });
    const commandLine = { permissions: { deny: ["Read(c"] } };
    expect(await desk.problems({ checkRule, commandLine })).toEqual([
      "the command line: the rule `Read(c` cannot be used: end it with )",
      `${USER}:5:7: the rule \`Bash(b\` cannot be used: end it with )`,
      `${USER}:15:19: the rule \`Bash(git\` cannot be used: end it with )`,
    ]);
  });

  it("in a deny rule of a Claude file stops too: leaving it out would loosen", async () => {
    const checkRule = (text: string) =>
      text === "Read(x" ? "the rule `Read(x` cannot be used: end it with )" : undefined;
    desk.put("home/.claude/settings.json", { permissions: { deny: ["Read(x"] }, theme: { a: 1 } });
    expect(await desk.problems({ checkRule })).toEqual([
      "home/.claude/settings.json:4:7: the rule `Read(x` cannot be used: end it with )",
    ]);
  });

  it.each([
    "managed.json",
    USER,
    "home/.claude/settings.json",
    "repo/.holdfast/settings.json",
    "repo/.claude/settings.json",
  ])("of syntax in %s stops the start once the file counts", async (file) => {
    await desk.trust.grant(desk.root, {});
    desk.put(file, '{\n  "permissions": {"deny": ["Read(x)"]\n');
    const shown = file.replace(/^repo\//, "");
    expect(await desk.problems()).toEqual([`${shown}:3:1: a , or } belongs here`]);
  });

  it("stays one line whatever the file holds", async () => {
    desk.put(USER, JSON.stringify({ [`\u001b[2J\n${"x".repeat(500)}`]: 1 }));
    const [line] = await desk.problems();
    expect(line).toMatch(/^[^\u0000-\u001f]{1,320}$/);
  });

  it("of a file that is none: a directory, a pipe, other bytes, too many of them; a device is how sandboxes mask", async () => {
    const file = path.join(desk.dir, USER);
    fs.mkdirSync(file, { recursive: true });
    const seen = [await desk.problems()];
    fs.rmdirSync(file);
    execFileSync("sh", ["-c", 'mkfifo "$0"', file]);
    seen.push(await desk.problems());
    fs.rmSync(file);
    fs.writeFileSync(file, Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
    seen.push(await desk.problems());
    fs.writeFileSync(file, " ".repeat(1_000_001));
    seen.push(await desk.problems());
    fs.rmSync(file);
    fs.symlinkSync("/dev/null", file);
    seen.push(await desk.problems());
    expect(seen).toEqual([
      [`${USER} is not a file: take it away`],
      [`${USER} is not a file: take it away`],
      [`${USER} is not UTF-8: save it as UTF-8`],
      [`${USER} is larger than 1000000 bytes: shorten it`],
      [],
    ]);
  });
});
