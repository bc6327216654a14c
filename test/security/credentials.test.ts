// No credential of the home, of other projects or of the system is seen by a command, whatever it runs; tools of the home work.
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SYSTEM_SECRETS } from "../../src/file-access/secret-names.ts";
import { withoutCredentials } from "../../src/mechanisms/jobs/git-config-text.ts";
import { bin, runProgram } from "../cli/cli.ts";
import { setUpOver, works } from "../jobs/sandboxed.ts";
import { scratch } from "../turn.ts";
import { openCage } from "./cage.ts";

/** Where the tools keep them. */
const CREDENTIALS = [
  ".config/git/credentials",
  ".local/share/uv/credentials/credentials.toml",
  ".nvm/versions/node/v20.0.0/etc/npmrc",
  ".volta/tools/image/node/20.0.0/etc/npmrc",
  ".asdf/installs/nodejs/20.0.0/etc/npmrc",
  ".local/share/mise/installs/node/20.0.0/etc/npmrc",
  ".deno/deployctl/credentials.json",
  ".pyenv/versions/3.12.0/pip.conf",
  ".local/share/virtualenvs/app/pip.conf",
  ".cargo/credentials.toml",
  ".bun/install/global/.npmrc",
  ".local/share/pnpm/global/5/.npmrc",
  ".linuxbrew/etc/npmrc",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".sdkman/etc/token",
  "miniconda3/.condarc",
  ".npmrc",
  ".netrc",
];
/** Programs, and what they are made of. */
const TOOLS = {
  ".nvm/nvm.sh": 'nvm() { PATH="$HOME/.nvm/versions/node/$(cat "$HOME/.nvm/alias/default")/bin:$PATH"; }\n',
  ".nvm/alias/default": "v20.0.0\n",
  ".nvm/versions/node/v20.0.0/bin/fakenode": "#!/bin/sh\necho node-ran\n",
  ".pyenv/shims/fakepython": '#!/bin/sh\nexec "$HOME/.pyenv/versions/$(cat "$HOME/.pyenv/version")/bin/fakepython"\n',
  ".pyenv/version": "3.12.0\n",
  ".pyenv/versions/3.12.0/bin/fakepython":
    '#!/bin/sh\ncat "$HOME/.pyenv/versions/3.12.0/lib/python3.12/site-packages/certifi/cacert.pem"\n',
  ".pyenv/versions/3.12.0/lib/python3.12/site-packages/certifi/cacert.pem": "python-ran\n",
  ".cargo/bin/fakecargo": '#!/bin/sh\nexec "$HOME/.rustup/toolchains/stable/bin/fakecargo"\n',
  ".rustup/toolchains/stable/bin/fakecargo": "#!/bin/sh\necho cargo-ran\n",
  "miniconda3/ssl/cacert.pem": "conda-certificates\n",
};
const GIT = {
  ".gitconfig": `[user]
	name = Ada # a person
[alias]
	lg = log --graph \\
 --oneline
[url "https://u:CANARY-URL@github.com/"]
	insteadOf = https://github.com/
[url "git@github.com:"]
	insteadOf = gh:
[credential "https://x.example"]
	helper = "!echo password=CANARY-HELPER"
[http "https://x.example"]
	extraheader = "AUTHORIZATION: basic CANARY-HEADER"
	sslVerify = true
[include]
	path = ~/.gitconfig-work
[includeIf "gitdir:/"]
	path = more/other
`,
  ".gitconfig-work": "[user]\n\temail = ada@work.example\n[github]\n\ttoken = CANARY-TOKEN\n",
  "more/other": "[commit]\n\tverbose\n[http]\n\tproxy = http://u:CANARY-PROXY@proxy.example\n",
  ".config/git/config": '[init]\n\tdefaultBranch = trunk\n[url "https://CANARY-USER@x.example"]\n\tinsteadOf = x:\n',
  ".config/git/ignore": "*.log\n",
};

const below = (dir: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${dir}/${name}`, text]));

test.runIf(works)(
  "a script sees no credential of the home, of another project or of the state; tools and git work as before",
  async () => {
    const cage = openCage({
      ...below("home", { ...TOOLS, ...GIT, ...Object.fromEntries(CREDENTIALS.map((name) => [name, "CANARY-HOME\n"])) }),
      // Another project of the same user, and what all projects share; the user lets commands read the folder around them.
      "shared/state/holdfast/projects/other/ledger.db": "CANARY-LEDGER\n",
      "shared/notes.txt": "readable\n",
      "shared/config/git/credentials": "CANARY-CONFIG\n",
    });
    cage.write({
      "shared/config/holdfast/settings.json": JSON.stringify({ sandbox: { readable: [join(cage.base, "shared")] } }),
      "project/look.sh": `grep -rs 'CANAR[Y]' "$HOME" ${cage.base} | sort; ls -A ${cage.base}/shared/state/holdfast; cat ${cage.base}/shared/notes.txt`,
      "project/tools.sh":
        '. "$HOME/.nvm/nvm.sh"; nvm; fakenode; "$HOME/.pyenv/shims/fakepython"; "$HOME/.cargo/bin/fakecargo"; cat "$HOME/miniconda3/ssl/cacert.pem"',
      "project/git.sh":
        "unset XDG_CONFIG_HOME; git config --list --includes | grep -v ^core | sort; printf 'protocol=https\\nhost=github.com\\n\\n' | git -c credential.helper=store credential fill 2>/dev/null | grep password",
    });
    Object.assign(cage.opts.env!, {
      XDG_STATE_HOME: join(cage.base, "shared/state"),
      XDG_CONFIG_HOME: join(cage.base, "shared/config"),
    });
    const [look, tools, , git] = await cage.run(["bash look.sh", "bash tools.sh", "git init -q", "bash git.sh"]);
    expect(look).toBe("readable");
    expect(tools).toBe("node-ran\npython-ran\ncargo-ran\nconda-certificates");
    expect(git).toBe(
      [
        "alias.lg=log --graph  --oneline",
        "commit.verbose",
        "http.https://x.example.sslverify=true",
        "include.path=~/.gitconfig-work",
        "includeif.gitdir:/.path=more/other",
        "init.defaultbranch=trunk",
        "url.git@github.com:.insteadof=gh:",
        "user.email=ada@work.example",
        "user.name=Ada\n[exit code 1]",
      ].join("\n"),
    );
  },
);

test.runIf(works)(
  "a project that is the home shows none of them, nor can they be moved to where they are seen",
  async () => {
    const { base } = openCage(
      below(
        "project",
        Object.fromEntries([...CREDENTIALS, ".gitconfig"].map((name) => [name, "[github]\n\ttoken = CANARY\n"])),
      ),
    );
    symlinkSync("shared/rc", join(base, "project/.nvm/versions/node/v20.0.0/etc/link"));
    const { run } = setUpOver(base, { home: join(base, "project") });
    await run(
      "for d in .nvm .deno .local .m2 .pyenv miniconda3 .cargo; do mv $d moved$d; done; mv .gitconfig .netrc /tmp; touch made",
    );
    expect(await run("grep -rs CANARY . /tmp; ls made")).toBe("made");
  },
);

test("what is shown of a git configuration is what git reads in it, but for credentials", () => {
  const dir = scratch(onTestFinished);
  const listed = (text: string) => {
    writeFileSync(join(dir, "c"), text);
    return execFileSync("git", ["config", "-f", join(dir, "c"), "--list", "-z"], { encoding: "utf8" });
  };
  const text = [
    "\uFEFF# a comment",
    "[core] editor = vim ; of theirs",
    '\tpager = "less # -R" -F   ',
    '[Alias "a\\"b\\\\c"]',
    "  x = one \\\n   two\t # three",
    '  y = "  kept  "  ',
    '  z = a\\tb\\nc\\\\d\\"e',
    "  empty =",
    "  alone",
    "[branch.Dotted.Name]\r\n\tkey-1 = v\r\n",
    '[url "ssh://git@x.example/"]\n\tinsteadOf = "y:" # no secret',
    "[a]b=c",
  ].join("\n");
  expect(listed(withoutCredentials(text)!.text)).toBe(listed(text));
  expect(withoutCredentials(text)).toMatchObject({ dropped: false, includes: [] });
  for (const broken of ["key = 1", "[a", '[a]\nb = "open', "[a]\n1 = 2", "[a]\nb c"])
    expect([broken, withoutCredentials(broken)]).toEqual([broken, undefined]);
});

test.runIf(works)("commands of root see no secret of the system that the engine knows", async () => {
  const cage = openCage({ "project/look.sh": "grep -rs 'CANAR[Y]' /etc; echo looked" });
  const places = SYSTEM_SECRETS.filter((path) => path.startsWith("/etc/"));
  const script = join(cage.base, "script.json");
  const calls = [{ name: "bash", input: { command: "bash look.sh > seen" } }];
  writeFileSync(script, JSON.stringify({ rounds: [{ calls }, { text: "done" }] }));
  // An /etc of its own: nothing of the machine is touched.
  const plant = places.map(
    (path) => `mkdir -p ${join(path, "..")}; echo CANARY > ${path}x; mkdir -p ${path}d; echo CANARY > ${path}d/key`,
  );
  const inside = `cp -a /run/etc/. /etc/ 2>/dev/null; rm -rf /etc/ssl/private; ${plant.join("; ")}; exec "$@"`;
  const args = ["--dev-bind", "/", "/", "--tmpfs", "/run", "--ro-bind", "/etc", "/run/etc", "--tmpfs", "/etc"];
  const cli = [process.execPath, bin, "-p", "go", "--model", `rehearsal:${script}`, "--permission-mode", "auto"];
  const { code, stderr } = await runProgram("bwrap", [...args, "bash", "-c", inside, "bash", ...cli], cage.opts);
  expect([code, stderr.includes("no sandbox")]).toEqual([0, false]);
  expect(execFileSync("cat", [join(cage.root, "seen")], { encoding: "utf8" })).toBe("looked\n");
});
