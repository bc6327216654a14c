// By program, the flags that people give it every day: what a rule with a wildcard means (see ordinary.ts).

export interface FlagRow {
  /** In the language of flags.ts, where only names and "takes a value" count. */
  flags: string;
  /** Flags whose value decides, as `flag value` or `flag=value`. */
  values?: RegExp;
  /** Flags whose value is a name, not code of somebody's (`--reporter dot`, not `--reporter ./x.js`). */
  named?: RegExp;
  /** Flags of one dash with a whole name (`-run`), as go has them. */
  hasLongSingles?: boolean;
  /** Subcommands that a rule has to name: they fetch and run code of others, publish, or change what is outside the project. */
  verbs?: RegExp;
  /** Among how many first words they may stand; default 1. */
  verbDepth?: number;
  /** After so many words that are no flags, the flags belong to another program. */
  ownWords?: number;
}

const SCRIPT_FLAGS =
  "-sqdylpaDEPSOBfvr -w: -F: -C! --silent --if-present --workspace: --workspaces --save-dev --save-exact --save --save-prod --save-optional --save-peer --no-save --no-audit --no-fund --ignore-scripts --prefer-offline --offline --legacy-peer-deps --force --production --prod --dev --omit: --include: --only: --dry-run --json --loglevel: --verbose --quiet --yes --no-progress --progress? --depth: --all --long --parseable --package-lock-only --no-package-lock --include-workspace-root --color? --no-color --audit-level: --version --help --filter: --recursive --frozen-lockfile --no-frozen-lockfile --prefer-frozen-lockfile --immutable --immutable-cache --stream --parallel --aggregate-output --no-bail --bail? --reporter: --workspace-root --workspace-concurrency: --lockfile-only --no-optional --since: --check-files --non-interactive --interactive --topological --exclude: --exact --latest --watch --hot --timeout: --coverage --only-changed --rerun-each: --update-snapshots --no-lockfile --pure-lockfile --ignore-engines --network-timeout: --minify --target: --outdir: --bun --smol --outdated --peer";
const STRANGERS =
  /^(?:dlx|x|create|init|innit|publish|unpublish|login|logout|adduser|owner|token|access|link|deploy|setup|self-update|upgrade-self|env|plugin|hook|set|edit|explore)$/;
const PIP =
  "-Uqvo -r: -e: -c: --upgrade --no-cache-dir --no-deps --quiet --verbose --pre --dry-run --no-input --disable-pip-version-check --require-hashes --only-binary: --no-binary: --no-build-isolation --format: --outdated --local --not-required --break-system-packages --force-reinstall --constraint: --requirement: --editable: --upgrade-strategy: --progress-bar:";
const DOCKER_RUN =
  "-ditPq -p: -e: -v: -w: -u: -m: -l: -h: --rm --name: --publish: --publish-all --env: --volume: --mount: --workdir: --user: --network: --net: --entrypoint: --init --restart: --memory: --cpus: --platform: --pull: --label: --hostname: --detach --interactive --tty --read-only --tmpfs: --shm-size: --quiet --stop-timeout: --expose: --link:";
const COMPOSE =
  "-daqTisVvf -f: -p: -t: -e: -u: -w: --file: --project-name: --profile: --detach --build --no-deps --remove-orphans --force-recreate --no-recreate --pull? --wait --wait-timeout: --scale: --no-build --no-start --quiet-pull --abort-on-container-exit --exit-code-from: --timeout: --volumes --rmi: --follow --tail: --since: --until: --timestamps --no-log-prefix --no-color --all --quiet --services --format: --filter: --status: --rm --name: --env: --user: --workdir: --ansi: --progress: --parallel: --no-cache --build-arg: --watch --dry-run --index: --interactive --service-ports --stop --force --renew-anon-volumes";
const KUBECTL =
  "-Aw -n: -o: -l: -L: -c: -p --namespace: --all-namespaces --output: --selector: --field-selector: --watch --watch-only --show-labels --sort-by: --no-headers --context: --label-columns: --container: --containers --chunk-size: --ignore-not-found --show-kind --recursive --api-version: --request-timeout: --client --short --api-group: --namespaced? --verbs:";
const CLOUD =
  "-qahn -o: -g: --project: --region: --zone: --format: --filter: --limit: --sort-by: --quiet --output: --query: --resource-group: --name: --app: --subscription: --json --verbosity: --help";
const COMPILE =
  /^-(?:[cgESvwOMP]|O[0-3sgz]|g\d?|std=.*|W[a-z][\w=+-]*|D\w.*|U\w+|I.*|L.*|l.*|f(?:PIC|pic|PIE|pie|sanitize=.*|no-[\w-]+|openmp|visibility=\w+|stack-protector[\w-]*|lto(?:=\w+)?|diagnostics-[\w=-]+|color-diagnostics|omit-frame-pointer|exceptions)|m(?:arch|tune|cpu)=[\w.+-]+|m(?:32|64|avx\w*|sse[\w.]*)|pthread|pedantic|ansi|shared|static|pipe|pg|MMD?|MP|rdynamic|no-pie|pie)$|^--(?:version|std=.*)$/;

export const ROWS: Record<string, FlagRow | RegExp> = {
  // It takes any unique beginning of a name.
  npm: {
    flags: SCRIPT_FLAGS,
    verbs:
      /^(?:x|exec?|cre?a?t?e?|init|innit|pub\w*|unp\w*|log[io]\w*|add-?us\w*|own\w*|tok\w*|acc\w*|link|ln|hook|set|edit?|expl\w*|team|org|profile|dist-tags?|depr\w*)$/,
  },
  pnpm: { flags: SCRIPT_FLAGS, verbs: STRANGERS },
  yarn: {
    flags: `${SCRIPT_FLAGS} -AWit`,
    verbs: /^(?:npm|global|dlx|create|init|publish|login|logout|owner|link|plugin|set)$/,
  },
  bun: { flags: `${SCRIPT_FLAGS} -t: -bu`, verbs: STRANGERS },
  "npm exec": {
    flags: "-qw: --workspace: --workspaces --if-present --no --offline --quiet",
    verbs: /^exec$/,
    ownWords: 2,
  },
  npx: { flags: "-yq --yes --no --no-install --quiet --prefer-offline --ignore-existing --silent", ownWords: 1 },
  pip: { flags: PIP },
  uv: {
    verbs: /^(?:tool|publish|self|python|init)$/,
    flags: `${PIP} -p: --all-extras --dev --no-dev --frozen --locked --extra: --group: --python: --package: --all-packages --no-sync --offline --all-groups --no-cache --active --system --depth: --outdated`,
  },
  "uv run": {
    flags:
      "-qvp --python: --frozen --locked --no-sync --offline --quiet --verbose --all-extras --extra: --group: --dev --no-dev --package: --active -m:",
    ownWords: 2,
  },
  poetry: {
    verbs: /^(?:publish|config|source|self|new|init|cache)$/,
    flags:
      "-qvnD --with: --without: --only: --sync --no-root --dry-run --dev --group: --all-extras --extras: --tree --latest --outdated --no-interaction --quiet -G: -E:",
  },
  "poetry run": { flags: "-qvn --quiet --no-interaction", ownWords: 2 },
  "bundle exec": { flags: "", ownWords: 2 },
  pytest: {
    flags:
      "-qvxsl -k: -m: -n: -r: -W: --maxfail: --lf --ff --nf --last-failed --failed-first --new-first --sw --stepwise --stepwise-skip --tb: --durations: --durations-min: --cov? --cov-report: --cov-fail-under: --cov-branch --no-cov --cov-append --collect-only --co --no-header --no-summary --disable-warnings --strict-markers --strict-config --verbose --quiet --exitfirst --capture: --showlocals --setup-show --fixtures --markers --timeout: --reruns: --reruns-delay: --dist: --numprocesses: --deselect: --ignore: --ignore-glob: --color: --benchmark-only --benchmark-skip --benchmark-disable --asyncio-mode: --random-order --runxfail --junitxml: --junit-xml: --version --help -h --cache-clear --cache-show? --snapshot-update --log-cli-level: --log-level:",
    values: /^-p ?no:\w+$|^-o ?(?:log_cli|log_cli_level|xfail_strict)=\w+$/,
  },
  vitest: {
    named: /^--(?:reporter|pool)$/,
    flags:
      "-uw -t: --run --watch? --coverage? --reporter: --testNamePattern: --bail? --silent? --changed? --project: --passWithNoTests --update --no-coverage --isolate? --no-isolate --pool: --maxWorkers: --minWorkers: --no-file-parallelism --fileParallelism --retry: --shard: --testTimeout: --hookTimeout: --typecheck? --globals --dom --hideSkippedTests --logHeapUsage --exclude: --dir: --allowOnly --color --no-color --outputFile: --related --coverage.enabled? --coverage.reporter: --coverage.include: --coverage.all? --sequence.shuffle? --sequence.seed: --no-watch --disable-console-intercept",
  },
  jest: {
    named: /^--(?:coverageReporters)$/,
    flags:
      "-iuobe -t: -w: --watch --watchAll? --coverage? --ci --runInBand --bail? --verbose? --silent? --testNamePattern: --testPathPattern: --testPathPatterns: --updateSnapshot --onlyChanged --onlyFailures --changedSince: --maxWorkers: --passWithNoTests --no-cache --no-coverage --detectOpenHandles --forceExit --listTests --json --findRelatedTests --runTestsByPath --selectProjects: --collectCoverage --collectCoverageFrom: --coverageReporters: --logHeapUsage --testTimeout: --shard: --expand --workerThreads --randomize --color --no-color --clearCache --showSeed --testRegex: --testMatch: --testPathIgnorePatterns: --outputFile:",
  },
  mocha: {
    named: /^(?:-R|--reporter|--ui)$/,
    flags:
      "-bwiCp -g: -f: -R: -t: -s: -j: --grep: --fgrep: --reporter: --timeout: --bail --watch --invert --recursive --parallel --jobs: --exit --no-exit --color --no-color --slow: --retries: --forbid-only --forbid-pending --dry-run --check-leaks --full-trace --ui: --spec: --extension: --ignore: --inline-diffs --diff",
  },
  eslint: {
    named: /^(?:-f|--format)$/,
    flags:
      "-f: -o: --fix --fix-dry-run --fix-type: --ext: --cache --quiet --max-warnings: --format: --no-color --color --report-unused-disable-directives --report-unused-disable-directives-severity: --no-error-on-unmatched-pattern --rule: --ignore-pattern: --no-ignore --env: --cache-location: --cache-strategy: --no-inline-config --stdin --stdin-filename: --output-file: --no-warn-ignored --version",
  },
  prettier: {
    named: /^--parser$/,
    flags:
      "-cwlu --check --write --list-different --ignore-unknown --no-color --log-level: --loglevel: --cache --no-semi --semi? --single-quote --tab-width: --print-width: --parser: --no-config --no-editorconfig --end-of-line: --trailing-comma: --prose-wrap: --stdin-filepath: --no-error-on-unmatched-pattern --ignore-path: --use-tabs --bracket-same-line --version",
  },
  biome: {
    flags:
      "--write --fix --unsafe --apply --apply-unsafe --check --error-on-warnings --diagnostic-level: --max-diagnostics: --changed --staged --since: --no-errors-on-unmatched --colors: --verbose --formatter-enabled: --linter-enabled: --only: --skip: --reporter: --files-ignore-unknown: --indent-style: --line-width: --json --version",
  },
  tsc: {
    flags:
      "-bw -p: --noEmit --watch --build --project: --pretty? --skipLibCheck --strict --outDir: --declaration --emitDeclarationOnly --incremental --listFiles --listFilesOnly --listEmittedFiles --showConfig --traceResolution --extendedDiagnostics --diagnostics --force --clean --dry --verbose --noEmitOnError --target: --module: --moduleResolution: --jsx: --lib: --sourceMap --esModuleInterop --allowJs --checkJs --noImplicitAny --strictNullChecks --types: --rootDir: --explainFiles --version --noUnusedLocals --noUnusedParameters",
  },
  node: {
    flags:
      "-epv --eval: --print: --test --test-name-pattern: --test-only --test-reporter: --test-concurrency: --test-timeout: --test-shard: --test-skip-pattern: --watch --trace-warnings --trace-deprecation --no-warnings --no-deprecation --max-old-space-size: --enable-source-maps --experimental-strip-types --experimental-transform-types --experimental-test-coverage --stack-trace-limit: --expose-gc --throw-deprecation --unhandled-rejections: --input-type: --version --check -c --run: --no-experimental-strip-types --experimental-vm-modules --trace-uncaught",
    ownWords: 1,
  },
  python: { flags: "-uBOqvsSEVIPb -m: -c: -W: -X: --version", ownWords: 1 },
  make: {
    flags:
      "-kswnBidpqrR -j? -l? -O? -C: -f: -W: -o: --jobs? --keep-going --silent --quiet --dry-run --always-make --directory: --file: --makefile: --no-print-directory --print-directory --output-sync? --trace --debug? --warn-undefined-variables --no-builtin-rules --version --question --touch -t --load-average?",
  },
  rake: {
    flags:
      "-TDPnqstvmANf -j: --tasks? --trace? --dry-run --quiet --silent --verbose --prereqs --jobs? --multitask --version --all",
  },
  just: { flags: "-lnqv --list --dry-run --summary --show: --quiet --yes --unsorted --dump --verbose --version" },
  task: {
    flags:
      "-lasvnfpw --list --list-all --silent --verbose --dry --force --parallel --watch --summary --json --status --version",
  },
  bazel: {
    flags:
      "-k -c: -j: --config: --compilation_mode: --test_output: --test_filter: --keep_going --jobs: --nocache_test_results --cache_test_results: --verbose_failures --runs_per_test: --test_arg: --noshow_progress --curses: --color: --output: --flaky_test_attempts: --test_tag_filters: --build_tests_only --nobuild --announce_rc",
  },
  composer: {
    verbs: /^(?:global|exec|config|self-update|create-project|archive|init)$/,
    flags:
      "-noqvWw --no-dev --no-interaction --prefer-dist --prefer-source --optimize-autoloader --quiet --no-progress --no-scripts --dry-run --dev --with-all-dependencies --ignore-platform-reqs --no-plugins --tree --latest --outdated --format: --no-ansi --version",
  },
  mypy: {
    flags:
      "-v -p: -m: --strict --ignore-missing-imports --show-error-codes --no-error-summary --pretty --python-version: --disallow-untyped-defs --warn-unused-ignores --no-incremental --cache-dir: --exclude: --follow-imports: --check-untyped-defs --show-column-numbers --namespace-packages --explicit-package-bases --no-color-output --verbose --version --warn-unreachable",
  },
  ruff: {
    flags:
      "-qvne --fix --no-fix --diff --check --select: --ignore: --extend-select: --output-format: --no-cache --watch --exclude: --unsafe-fixes --show-fixes --quiet --statistics --line-length: --target-version: --preview --exit-zero --stdin-filename: --show-files --force-exclude --version --verbose",
  },
  black: {
    flags:
      "-qvSC -l: -t: -W: --check --diff --line-length: --quiet --target-version: --exclude: --include: --fast --safe --color --no-color --skip-string-normalization --preview --workers: --extend-exclude: --force-exclude: --version --verbose",
  },
  tox: {
    flags: "-qvrl -e: -f: -p? --parallel? --recreate --skip-pkg-install --notest --parallel-no-spinner --version",
  },
  "pre-commit": {
    verbs: /^(?:install|uninstall|autoupdate|try-repo|init-templatedir|install-hooks)$/,
    flags:
      "-av --all-files --files --hook-stage: --show-diff-on-failure --color: --verbose --from-ref: --to-ref: --version",
  },
  deno: {
    verbs: /^(?:install|uninstall|upgrade|eval|repl|publish|jupyter|compile|serve)$/,
    flags:
      "-qAREN --allow-read? --allow-net? --allow-env? --allow-write? --allow-all --filter: --fail-fast? --coverage? --parallel --watch --no-check --check --quiet --doc --fix --ignore: --json --frozen --permit-no-files --shuffle? --trace-leaks --line-width: --indent-width: --no-lock --version",
  },
  nx: {
    flags:
      "-t: -p: -c: --target: --targets: --projects: --all --affected --base: --head: --parallel? --skip-nx-cache --skipNxCache --configuration: --prod --verbose --output-style: --exclude: --nxBail --watch --coverage --ci --version",
  },
  turbo: {
    verbs: /^(?:login|link|logout|gen|generate)$/,
    flags:
      "-F: --filter: --force --parallel --concurrency: --continue? --no-cache --dry? --dry-run? --output-logs: --affected --summarize --only --log-order: --ui: --env-mode: --no-daemon --verbosity: --version",
  },
  playwright: {
    named: /^--reporter$/,
    verbs: /^(?:install|install-deps|codegen|open|cr|ff|wk|show-trace|screenshot|pdf|run-server|launch-server)$/,
    flags:
      "-xu -g: -j: --grep: --grep-invert: --project: --headed --ui --debug --reporter: --workers: --retries: --update-snapshots? --timeout: --max-failures: --list --last-failed --repeat-each: --shard: --trace: --pass-with-no-tests --only-changed? --quiet --version",
  },
  tsx: { flags: "-e: --eval: --no-warnings --test --tsconfig: --no-cache --version", ownWords: 1 },
  "ts-node": { flags: "-TFe -P: --transpile-only --files --esm --project: --swc --version", ownWords: 1 },
  java: /^-(?:jar|cp|classpath|version|Xm[sx]\w+|Xss\w+|ea|enableassertions|D[\w.]+(?:=.*)?|XX:[+-]\w+)$|^--(?:version|enable-preview|class-path)$/,
  ninja: { flags: "-vn -j: -k: -C: -l: --version --verbose --quiet" },
  cmake:
    /^-(?:[SBGADUj].*|t|v|N|LA?H?|Wno-[\w-]+)$|^--(?:build|target|config|parallel|preset|install|fresh|clean-first|verbose|list-presets|workflow|component|strip|prefix|version|graphviz)(?:=.*)?$/,
  ctest: {
    flags:
      "-VNQ -j? -R: -E: -L: -C: -I: --output-on-failure --test-dir: --rerun-failed --timeout: --parallel? --build-config: --verbose --extra-verbose --show-only? --preset: --stop-on-failure --repeat: --schedule-random --progress --no-tests: --version",
  },
  cargo: {
    verbs: /^(?:install|uninstall|publish|login|logout|owner|yank|vendor|generate)$/,
    flags:
      "-qvr -p: -j: -F: -i: -e: --package: --release --workspace --all --lib --bins --bin: --example: --examples --test: --tests --bench: --benches --doc --no-run --no-fail-fast --features: --all-features --no-default-features --target: --profile: --jobs: --locked --frozen --offline --verbose --quiet --message-format: --color: --all-targets --exclude: --keep-going --timings? --fix --allow-dirty --allow-staged --check --no-deps --document-private-items --edition: --depth: --invert: --dev --build --optional --dry-run --manifest-path: --target-dir: --version --list --format-version: --edges: --prefix: --ignore-rust-version --nocapture --rename: --no-optional",
  },
  go: {
    verbs: /^(?:install|generate|tool|env|telemetry|clean)$/,
    flags:
      "-v -race -run: -count: -timeout: -cover -coverprofile: -covermode: -coverpkg: -short -bench: -benchmem -benchtime: -failfast -parallel: -json -tags: -mod: -o: -ldflags: -gcflags: -trimpath -x -n -a -p: -vet: -list: -cpu: -shuffle: -fuzz: -fuzztime: -skip: -fullpath -u -d -t -m -f: -e -deps -test -compiled -buildvcs: -cpuprofile: -memprofile: -w -l -s -all -versions -find -c -i -go: -v=true -asmflags: -buildmode: -func: -html:",
    hasLongSingles: true,
  },
  "go run": { flags: "-race -v -x -n -tags: -mod: -ldflags: -trimpath -p:", hasLongSingles: true, ownWords: 2 },
  mvn: /^-(?:[qeoUBXVNT]{1,6}|am|amd|fae|ff|fn|ntp|nsu|T[\d.]+C?|pl|P[\w,!-]*|D(?:test|skipTests|maven\.test\.skip|skipITs|failIfNoTests|surefire\.\w+|it\.test|groups|spring\.profiles\.active|maven\.javadoc\.skip|checkstyle\.skip|revision|skip\w*|style\.color)(?:=.*)?)$|^--(?:quiet|batch-mode|offline|update-snapshots|no-transfer-progress|projects|also-make|also-make-dependents|fail-at-end|fail-fast|threads|errors|debug|version|show-version|activate-profiles|non-recursive|resume-from)(?:=.*)?$/,
  gradle: {
    verbs: /^(?:publish\w*|upload\w*|wrapper|init)$/,
    flags:
      "-idqsSmt -x: -P: --tests: --info --debug --quiet --stacktrace --full-stacktrace --no-daemon --daemon --parallel --no-parallel --build-cache --no-build-cache --continue --offline --rerun-tasks --rerun --refresh-dependencies --configuration-cache --no-configuration-cache --warning-mode: --console: --exclude-task: --dry-run --continuous --max-workers: --profile --project-prop: --version --all --configuration: --dependency:",
    values: /^-Dspring\.profiles\.active=[\w,-]+$/,
  },
  dotnet: {
    verbs: /^(?:tool|nuget|dev-certs|user-secrets|workload|exec|script|fsi|new)$/,
    flags:
      "-c: -v: -f: -r: -o: -t --configuration: --no-build --no-restore --filter: --verbosity: --framework: --nologo --runtime: --self-contained? --output: --project: --launch-profile: --force --locked-mode --list-tests --blame --results-directory: --version --info --list-sdks --list-runtimes",
    values: /^(?:-l|--logger)[ =]"?(?:trx|console|html|junit)(?:;\w+=[\w.-]+)*"?$/,
  },
  gcc: COMPILE,
  rustc: {
    flags:
      "-gO -o: --edition: --test --crate-type: --crate-name: --emit: --target: --out-dir: -A: -D: -W: --version --explain:",
  },
  "docker run": { flags: DOCKER_RUN },
  "docker create": { flags: DOCKER_RUN },
  "docker exec": { flags: "-itdq -e: -u: -w: --env: --user: --workdir: --interactive --tty --detach" },
  "docker build": {
    flags:
      "-q -t: -f: --tag: --file: --build-arg: --no-cache --pull --target: --platform: --progress: --quiet --rm --force-rm --load --label: --network: --compress --memory: --shm-size:",
  },
  "docker compose": { flags: COMPOSE, verbs: /^(?:publish|push|alpha|bridge)$/, verbDepth: 2 },
  "docker-compose": { flags: COMPOSE },
  "docker logs": { flags: "-ft -n: --follow --tail: --since: --until: --timestamps --details" },
  "docker inspect": { flags: "-s -f: --format: --size --type:" },
  docker: {
    verbs:
      /^(?:login|logout|push|plugin|swarm|stack|service|node|secret|config|trust|context|load|import|save|export|commit|buildx|builder|update|kill|rmi|rename|checkpoint|scout|init|debug|sbom|model|mcp|offload|desktop|extension)$/,
    flags:
      "-aqlfsv -t: -n: --all --quiet --filter: --format: --no-trunc --time: --signal: --force --volumes --no-stream --platform: --latest --last: --size --digests --tree",
  },
  kubectl: { flags: KUBECTL },
  "kubectl logs": {
    flags: `${KUBECTL} -fp --tail: --since: --since-time: --follow --previous --timestamps --all-containers --prefix --max-log-requests:`,
  },
  helm: {
    verbs: /^(?:plugin|registry|repo|push|pull|uninstall|delete|rollback|test|create|package)$/,
    flags:
      "-Aaqi -n: -o: -f: -s: --namespace: --all-namespaces --output: --values: --set: --set-string: --version: --dry-run? --debug --kube-context: --revision: --all --max: --short --filter: --devel --wait --timeout: --atomic --install --create-namespace --reuse-values --description: --show-only: --include-crds --name-template: --no-hooks --strict --with-subcharts",
  },
  terraform: {
    verbs: /^(?:apply|destroy|import|state|console|login|logout|force-unlock|taint|untaint|test)$/,
    flags:
      "-chdir: -out: -var: -var-file: -target: -input: -no-color -json -lock: -lock-timeout: -refresh: -refresh-only -compact-warnings -detailed-exitcode -parallelism: -upgrade -reconfigure -check -diff -recursive -write: -list: -backend: -replace: -version",
    hasLongSingles: true,
  },
  ansible: {
    flags: "-vCDb -l: -f: --limit: --list-hosts --check --diff --become --version",
    values: /^-m ?(?:ping|setup)$/,
  },
  "ansible-playbook": {
    flags:
      "-vCDb -l: -t: -f: --check --diff --limit: --tags: --skip-tags: --list-tasks --list-hosts --list-tags --syntax-check --become --forks: --step --version",
  },
  aws: {
    flags:
      "--region: --output: --query: --profile: --no-cli-pager --max-items: --page-size: --recursive --human-readable --summarize --no-paginate --filters: --filter: --instance-ids: --names: --name: --bucket: --prefix: --key: --log-group-name: --start-time: --end-time: --limit: --function-name: --stack-name: --cluster: --services: --tasks: --table-name: --only-show-errors --since: --follow --format: --dryrun --exclude: --include: --group-name: --role-name: --user-name: --cli-read-timeout: --version",
  },
  gcloud: {
    flags: CLOUD,
    verbDepth: 3,
    verbs: /^(?:ssh|scp|delete|create|update|deploy|set|auth|config|secrets|remove|add|start|stop|run)$/,
  },
  az: {
    flags: CLOUD,
    verbDepth: 3,
    verbs: /^(?:delete|create|update|set|login|account|keyvault|ad|rest|ssh|run-command|deploy|start|stop|remove|add)$/,
  },
  gh: {
    flags:
      "-wcdiyp -R: -L: -s: -q: -t: -a: -l: -B: -H: -S: -b: -F: -r: -m: -X: -f: -e: -j: -A: --repo: --limit: --state: --json: --jq: --template: --author: --assignee: --label: --base: --head: --search: --web --comments --log --log-failed --job: --branch: --workflow: --status: --watch --exit-status --interval: --name-only --patch --required --title: --body: --body-file: --fill --fill-first --draft --reviewer: --milestone: --merge --squash --rebase --delete-branch --auto --approve --request-changes --comment --paginate --method: --raw-field: --field: --header: --cache: --slurp --silent --include --verbose --attempt: --created: --user: --event: --commit: --archived --visibility: --language: --topic: --order: --sort: --match: --edit-last --yes --failed --debug --compact --add-label: --remove-label: --add-assignee: --color: --version",
  },
  curl: {
    flags:
      "-sSfLiIvkOGNgjJRZ460# -o: -H: -X: -d: -w: -m: -A: -e: -u: -F: -b: -c: -z: -r: -C: -T: -n --silent --show-error --fail --fail-with-body --location --include --head --verbose --insecure --output: --remote-name --remote-name-all --header: --request: --data: --data-raw: --data-binary: --data-urlencode: --json: --get --write-out: --max-time: --connect-timeout: --retry: --retry-delay: --retry-connrefused --retry-all-errors --retry-max-time: --user-agent: --compressed --http1.1 --http2 --no-progress-meter --progress-bar --max-redirs: --url: --form: --cookie: --cookie-jar: --user: --create-dirs --no-buffer --globoff --parallel --ipv4 --ipv6 --range: --continue-at: --limit-rate: --tlsv1.2 --tlsv1.3 --referer: --version --upload-file:",
  },
  wget: {
    flags:
      "-qcNSrkpEh4 -n: -O: -P: -T: -t: -l: -A: -R: -U: --quiet --output-document: --directory-prefix: --continue --timestamping --no-clobber --no-verbose --server-response --timeout: --tries: --spider --show-progress --header: --user-agent: --no-check-certificate --content-disposition --max-redirect: --method: --body-data: --post-data: --recursive --no-parent --level: --progress: --https-only --retry-connrefused --waitretry: --version",
  },
  ssh: {
    flags: "-TtqvVCxn46 -p: -l: -i:",
    values:
      /^-o ?(?:ConnectTimeout|BatchMode|StrictHostKeyChecking|ServerAlive\w+|LogLevel|ConnectionAttempts)=[\w-]+$/i,
  },
  scp: { flags: "-rpqCvB46 -P: -l: -i:" },
  rsync: {
    flags:
      "-avzrhnPucitplLHxqRmAXSgoDd -f: --archive --verbose --compress --recursive --human-readable --dry-run --progress --partial --delete --exclude: --include: --exclude-from: --include-from: --checksum --update --stats --itemize-changes --info: --times --perms --links --copy-links --size-only --ignore-existing --existing --inplace --no-perms --no-owner --no-group --chmod: --filter: --mkpath --prune-empty-dirs --delete-after --delete-excluded --max-size: --min-size: --bwlimit: --timeout: --relative --hard-links --one-file-system --quiet --omit-dir-times --no-times --list-only --cvs-exclude",
  },
  psql: {
    flags:
      "-ltAxqXwWabeE1n -d: -h: -p: -U: -c: -F: -P: -R: -v: -f: --csv --html --tuples-only --no-align --expanded --quiet --command: --dbname: --host: --port: --username: --list --no-psqlrc --single-transaction --pset: --variable: --set: --file: --field-separator: --no-password --version --echo-errors --echo-queries",
  },
  mysql: {
    flags:
      "-NBtsvE -u: -h: -P: -D: -e: -p? --host: --port: --user: --database: --execute: --batch --silent --skip-column-names --table --raw --vertical --protocol: --password? --version",
  },
  "redis-cli": {
    flags:
      "-h: -p: -n: -i: -r: --raw --no-raw --csv --json --scan --pattern: --stat --bigkeys --memkeys --latency --tls --no-auth-warning --version --count:",
  },
  tar: {
    flags:
      "-cxtzjJvkpruaOmhdw -f: -C: -X: --create --extract --get --list --gzip --bzip2 --xz --zstd --file: --verbose --directory: --exclude: --strip-components: --strip: --wildcards --no-wildcards --keep-old-files --overwrite --no-same-owner --no-same-permissions --same-permissions --preserve-permissions --numeric-owner --owner: --group: --mtime: --sort: --auto-compress --to-stdout --append --update --exclude-vcs --exclude-vcs-ignores --exclude-from: --anchored --totals --one-file-system --dereference --no-recursion --format: --diff --compare --touch --version --gunzip --ungzip",
  },
  zip: { flags: "-rqjuvdlyXo0123456789 -x: -i: -n: --quiet --recurse-paths --exclude: --version" },
  unzip: { flags: "-oqltvnjpuaC -d: -x: --version" },
};
/** Goals that publish, or run a plugin that is named by its place. */
export const GOALS: Record<string, RegExp> = { mvn: /^(?:deploy|site-deploy|release:.*|[\w.-]+:[\w.-]+:.*)$/ };
/** They read more arguments from a file. */
export const RESPONSE_FILES = /^(?:pytest|gcc|tsc|javac|java|rustc|ld|mypy)$/;

/** They take the same flags. */
export const KIN: Record<string, string> = {
  podman: "docker",
  nerdctl: "docker",
  oc: "kubectl",
  tofu: "terraform",
  pnpx: "npx",
  bunx: "npx",
  pip3: "pip",
  python3: "python",
  "py.test": "pytest",
  gmake: "make",
  mvnw: "mvn",
  gradlew: "gradle",
  "g++": "gcc",
  cc: "gcc",
  clang: "gcc",
  "clang++": "gcc",
};
