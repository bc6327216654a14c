// Programs × options that take a path × what the path is × how it is written, made anew from tables: what a rule for the program never means,
// and what it does mean. All in one process: thousands of decisions in a few seconds.
import { expect, it } from "vitest";
import { judgeCommand, makeWorld, unchanging } from "./world.ts";

/** The rule is the key and ` *`; the options take a path. `^`: words of the project may be protected ones (it only reads them). */
const PROGRAMS: Record<string, string> = {
  "git commit ^": "-F --file -t --template --pathspec-from-file",
  "git add ^": "--pathspec-from-file --chmod",
  "git tag ^": "-F --file",
  "git notes add ^": "-F --file",
  "git stash ^": "--pathspec-from-file",
  "git merge ^": "-F --file",
  "git apply": "--directory --build-fake-ancestor",
  "git am": "--directory --patch-format",
  "git format-patch": "-o --output-directory --signature-file",
  "git checkout-index": "--prefix",
  "git fast-export": "--export-marks --import-marks",
  "git mailsplit": "-o",
  "git interpret-trailers": "--trailer-file --where",
  "git merge-file": "-L",
  "npm run": "--out --outfile --log --cache-dir",
  "npm pack": "--pack-destination",
  "npx eslint": "-o --output-file --ignore-path --cache-location --rulesdir",
  "npx prettier": "--ignore-path --plugin --write",
  "npx tsc": "-p --project --outDir --outFile --rootDir --tsBuildInfoFile",
  "vitest run": "--root --outputFile --dir",
  jest: "--rootDir --outputFile --coverageDirectory --cacheDirectory --globalSetup",
  "pnpm run": "--dir --out",
  pytest: "--rootdir --basetemp --junitxml --log-file -c -o --cov-report --confcutdir",
  "python3 scripts/x.py": "--in --out --key -f",
  "node scripts/x.js": "--in --out --key -f",
  mypy: "--config-file --html-report --cache-dir --junit-xml",
  ruff: "--config --output-file --cache-dir",
  coverage: "-d --rcfile --data-file",
  "cargo build": "--target-dir --manifest-path --artifact-dir",
  "go test": "-o -coverprofile -cpuprofile -outputdir -overlay -modfile",
  "go build": "-o -pkgdir -overlay",
  "mvn test": "-f -s -l -gs",
  "gradle test": "-p -b -c --project-cache-dir",
  make: "-f -C -I --include-dir --directory",
  cmake: "-B -S -C --install-prefix",
  gcc: "-o -include -imacros -MF -T",
  rustc: "-o --out-dir --emit",
  javac: "-d -cp -sourcepath",
  "docker build": "-f --secret --output -o --iidfile --cache-to --build-context",
  "docker compose": "-f --env-file --project-directory",
  "kubectl apply": "-f -k --kubeconfig",
  "kubectl describe": "-f --kubeconfig",
  "terraform plan": "-out -var-file -state -chdir",
  "helm template": "-f --values --set-file --output-dir",
  "aws s3": "--ca-bundle --cli-input-json",
  "gh pr": "-F --body-file --template",
  "gh api": "--input -F",
  "gh release": "-D --dir --notes-file -F",
  psql: "-f -o -L --file --output --log-file",
  mysql: "--defaults-file --tee --init-command",
  openssl: "-in -out -key -config -cert -CAfile -extfile -keyout",
  curl: "-o -K -T --cacert --cert --key -D --netrc-file --output-dir",
  wget: "-O -P -o -a -i --post-file --ca-certificate",
  "7z": "-o -i -x -w",
  unzip: "-d",
  tar: "-C -T -X -f --directory --one-top-level --files-from",
  rsync: "--files-from --log-file --exclude-from --temp-dir",
  ffmpeg: "-i -passlogfile",
  pandoc: "-o --output --template --metadata-file --lua-filter --extract-media",
  esbuild: "--outfile --outdir --tsconfig",
  "ansible-playbook": "-i --private-key --vault-password-file -e",
  mycli: "-f -o --file --config --data --to --key",
  "./bin/tool": "-f -o --file --config --data --to --key",
};

const BAD = {
  secret: [
    "~/.ssh/id_rsa",
    "$HOME/.netrc",
    '"$HOME"/.aws/credentials',
    "@BASE@/home/.config/gh/hosts.yml",
    "../home/.pgpass",
    "~/.kube/config",
    ".env",
  ],
  outside: ["../outside/x", "$HOME/x", "@BASE@/outside/x", "src/../../outside/x", "~/public_html/x"],
  protected: [
    ".git/hooks/pre-commit",
    "./.git/config",
    ".claude/settings.json",
    "src/../.holdfast/settings.json",
    ".vscode/tasks.json",
    ".husky/pre-push",
  ],
};
const GOOD = [
  "src/a.ts",
  "./src/index.ts",
  "dist/out.js",
  "docs/x.md",
  "a=b",
  "k=src/a.ts",
  "src/a.ts,src/index.ts",
  "README.md:12",
  "@src/a.ts",
  "'fix: a=b, c:d'",
  "12:30",
  "1..10",
  "50%",
  "HEAD~2",
  "feature/x-y_z",
];

/** Joined where a program takes it so; a one-letter flag has its value behind it. */
const written = (option: string): ((path: string) => string)[] =>
  /^-[A-Za-z]$/.test(option)
    ? [(p) => `${option} ${p}`, (p) => `${option}${p}`, (p) => `${option} k=${p}`, (p) => `${option} @${p}`]
    : [
        (p) => `${option} ${p}`,
        (p) => `${option}=${p}`,
        (p) => `${option} a,${p}`,
        (p) => `${option}=k=${p}`,
        (p) => `${option}=a:${p}`,
        (p) => `${option} k=@${p}`,
      ];
const OPERANDS: ((path: string) => string)[] = [
  (p) => p,
  (p) => `@${p}`,
  (p) => `x ${p}`,
  (p) => `k=${p}`,
  (p) => `a:${p}`,
  (p) => `x,${p}`,
];

interface Line {
  rule: string;
  command: string;
}

/** Every path with one way of writing, and every way with one path; which, goes round. */
function* attacks(): Generator<Line> {
  let turn = 0;
  for (const [key, options] of Object.entries(PROGRAMS)) {
    const rule = key.replace(" ^", "");
    const kinds = Object.entries(BAD).filter(([kind]) => kind !== "protected" || !key.endsWith("^"));
    for (const ways of [...options.split(" ").map(written), OPERANDS]) {
      for (const [kind, paths] of kinds) {
        // Compilers and readers of the project may read what is protected; what they write is another option.
        for (const path of paths) yield { rule, command: `${rule} ${ways[turn++ % ways.length]!(path)}` };
        for (const way of ways)
          if (kind !== "protected") yield { rule, command: `${rule} ${way(paths[turn++ % paths.length]!)}` };
      }
    }
  }
}

it("a rule for a program never means secrets, places outside or protected files, wherever they stand", async () => {
  const world = unchanging(
    makeWorld({}, ["mkdir -p scripts bin .vscode .husky", "touch scripts/x.py scripts/x.js bin/tool"]),
  );
  const allowed: string[] = [];
  let count = 0;
  for (const { rule, command } of attacks()) {
    count++;
    const filled = command.replaceAll("@BASE@", world.base);
    // With the first rule a flag that is not usual is asked for itself; with the second it is the path alone that counts.
    for (const allow of [`Bash(${rule} *)`, "Bash"])
      if ((await judgeCommand(world, filled, { allow: [allow] })).decision === "allow")
        allowed.push(`[${allow}] ${command}`);
  }
  expect(allowed).toEqual([]);
  expect(count).toBeGreaterThan(5_000);
});

it("a rule for a program means what it is usually given", async () => {
  const world = unchanging(makeWorld({}, ["mkdir -p scripts bin", "touch scripts/x.py scripts/x.js bin/tool"]));
  const asked: string[] = [];
  let count = 0;
  for (const key of Object.keys(PROGRAMS)) {
    const rule = key.replace(" ^", "");
    if (rule.startsWith("./") || !UNUSUAL.test(rule))
      for (const value of GOOD) {
        if (value.startsWith("@") && TAKES_ARGUMENTS_FROM_FILES.test(rule)) continue;
        for (const command of [
          ...[`${rule} ${value}`, `${rule} x ${value} y`],
          ...(HAS_OTHERS.test(rule) ? [`${rule} --name=${value}`, `${rule} --tags ${value} --verbose`] : []),
        ]) {
          count++;
          const { decision, reason } = await judgeCommand(world, command, { allow: [`Bash(${rule} *)`] });
          if (decision !== "allow") asked.push(`[${rule}] ${command}: ${reason}`);
        }
      }
  }
  expect(asked).toEqual([]);
  expect(count).toBeGreaterThan(1_500);
});

/** `pytest @x` reads flags from x. */
const TAKES_ARGUMENTS_FROM_FILES = /^(?:npx tsc|pytest|mypy|gcc|rustc|javac)$/;

/** Programs whose flags nobody has listed: a rule means them all. */
const HAS_OTHERS = /^(?:mycli|\.\/bin\/tool|coverage|javac|openssl|7z|ffmpeg|pandoc|esbuild|python3 s|node s)/;

/** They have a grammar of their own in which such words mean something else: an address to fetch from, a place to unpack to. */
const UNUSUAL =
  /^(?:curl|wget|rsync|tar|unzip|psql|mysql|aws s3|kubectl apply|git (?:apply|am|mailsplit|merge-file|interpret-trailers|checkout-index|fast-export|format-patch))$/;
