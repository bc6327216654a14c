import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTrust } from "../../src/settings/trust.ts";
import { tempDir } from "../house.ts";

const granter = path.join(import.meta.dirname, "children/granter.ts");
const run = promisify(execFile);

describe("trust", () => {
  let dir: string;
  let file: string;
  const at = (...p: string[]) => path.join(dir, ...p);
  const projects = () => Object.keys((JSON.parse(fs.readFileSync(file, "utf8")) as { projects: object }).projects);
  beforeEach(() => {
    dir = tempDir("trust");
    file = at("state", "trust.json");
    fs.mkdirSync(at("repo", "sub"), { recursive: true });
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  it("is of one real path: the same through a link, not for what is inside, beside or moved", async () => {
    const trust = openTrust(file);
    fs.symlinkSync(at("repo"), at("link"));
    fs.mkdirSync(at("repo-2"));
    expect(trust.isTrusted(at("repo"))).toBe(false);
    await trust.grant(at("link"), { "hooks a": "1" });
    expect([at("repo"), at("link"), at("repo/sub/.."), at("repo/sub"), at("repo-2"), dir].map(trust.isTrusted)).toEqual(
      [true, true, true, false, false, false],
    );
    fs.renameSync(at("repo"), at("moved"));
    expect([at("moved"), at("link")].map(trust.isTrusted)).toEqual([false, false]);
    // What is gone can be forgotten by its name.
    expect([await trust.revoke(at("repo")), await trust.revoke(at("repo"))]).toEqual([true, false]);
    expect(projects()).toEqual([]);
  });

  it("approves a piece by its hash alone, keeps the other kinds, and is read anew each time", async () => {
    const trust = openTrust(file);
    await trust.grant(at("repo"), { "hooks a": "1", "mcp b": "1" });
    await openTrust(file).grant(at("repo"), { "hooks a": "2" });
    const asked = [
      ["hooks a", "1"],
      ["hooks a", "2"],
      ["mcp b", "1"],
      ["toString", "1"],
    ].map(([kind, hash]) => trust.approves(at("repo"), kind!, hash!));
    expect(asked).toEqual([false, true, true, false]);
    expect(trust.entry(at("repo"))).toEqual({
      trustedAt: expect.stringMatching(/^\d{4}-/),
      executables: { "hooks a": "2", "mcp b": "1" },
    });
    expect([fs.statSync(file).mode & 0o777, fs.statSync(path.dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    await expect(trust.grant(at("nowhere"), {})).rejects.toMatchObject({ code: "invalid" });
  });

  it("that is damaged or from a newer Holdfast stops and is not overwritten", async () => {
    fs.mkdirSync(path.dirname(file));
    for (const [text, code] of [
      ['{"version":1,"projects":{"/x":{}}}', "invalid"],
      ['{"version":1,"proj', "invalid"],
      ["", "invalid"],
      ['{"version":2}', "upgrade"],
    ]) {
      fs.writeFileSync(file, text!);
      expect(() => openTrust(file).isTrusted(dir)).toThrowError(expect.objectContaining({ code }));
      await expect(openTrust(file).grant(dir, {})).rejects.toMatchObject({ code });
      expect(fs.readFileSync(file, "utf8")).toBe(text);
    }
  });

  it("that 8 processes give at once is all there", async () => {
    const names = Array.from({ length: 8 }, (_, i) => `p${i}`);
    await Promise.all(names.map((name) => run(process.execPath, [granter, file, at("many"), name, "5"])));
    const wanted = names.flatMap((name) => Array.from({ length: 5 }, (_, i) => at("many", `${name}-${i}`)));
    expect(projects().sort()).toEqual(wanted.sort());
  });

  it("survives a kill between writing and renaming: the old file stands, the next writer goes on and clears up", async () => {
    const trust = openTrust(file);
    await trust.grant(at("repo"), {});
    const died = spawnSync(process.execPath, [granter, file, at("many"), "x", "1", "die"]);
    expect([died.signal, fs.readdirSync(path.dirname(file)).filter((name) => name.endsWith(".tmp")).length]).toEqual([
      "SIGKILL",
      1,
    ]);
    expect(projects()).toEqual([at("repo")]);
    await trust.grant(at("repo/sub"), {});
    expect([projects(), fs.readdirSync(path.dirname(file)).sort()]).toEqual([
      [at("repo"), at("repo/sub")],
      ["trust.json", "trust.json.lock"],
    ]);
  });

  it("that was reported is there after kill -9 at any moment", async () => {
    for (let round = 0; round < 6; round++) {
      const child = spawn(process.execPath, [granter, file, at("many"), `r${round}`, "100000"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.on("data", (chunk) => {
        said += chunk;
        if (said.split("\n").length > 4 + round * 2) child.kill("SIGKILL");
      });
      await once(child, "close");
      const reported = said.split("\n").slice(0, -1);
      expect(reported.length).toBeGreaterThan(3);
      expect(reported.filter((root) => !openTrust(file).isTrusted(root))).toEqual([]);
    }
  });
});
