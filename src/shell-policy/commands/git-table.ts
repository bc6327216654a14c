// The table of git's subcommands: flags of those that only read, and what the others do.

const DIFF =
  "-pusRrzbwWaMCDBlm0cit -U: -S: -G: -O:r -M? -C? -B? -D? -l: --patch --no-patch --unified: --raw --patch-with-raw --indent-heuristic --minimal --patience --histogram --anchored: --diff-algorithm: --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative --summary --patch-with-stat --name-only --name-status --submodule? --color? --no-color --color-moved? --no-color-moved --color-words? --word-diff? --word-diff-regex: --no-renames --find-renames? --find-copies? --find-copies-harder --check --ws-error-highlight: --full-index --binary --abbrev? --break-rewrites? --diff-filter: --pickaxe-all --pickaxe-regex --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --inter-hunk-context: --function-context --exit-code --quiet --no-ext-diff --no-textconv --ext-diff! --textconv! --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix --default-prefix --line-prefix: --ita-invisible-in-index --output:w --output-indicator-new: --cached --staged --merge-base --no-index --base --ours --theirs --cc --combined-all-paths --diff-merges: --no-diff-merges --remerge-diff --dd --stat-width: --stat-name-width: --stat-count: --skip-to: --rotate-to:";
const LOG = `${DIFF} -n: -L: -g -E -F -P -i -h -q --follow --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: --source --mailmap --no-mailmap --use-mailmap --log-size --max-count: --skip: --since: --after: --until: --before: --since-as-filter: --author: --committer: --grep: --grep-reflog: --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --basic-regexp --merges --no-merges --min-parents: --max-parents: --no-min-parents --no-max-parents --first-parent --exclude-first-parent-only --not --all --branches? --tags? --remotes? --glob: --exclude: --exclude-hidden: --reflog --alternate-refs --single-worktree --ignore-missing --stdin --cherry-mark --cherry-pick --left-only --right-only --cherry --walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges --ancestry-path? --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk --pretty? --format: --abbrev-commit --no-abbrev-commit --oneline --encoding: --expand-tabs? --no-expand-tabs --notes? --no-notes --show-notes? --show-signature~ --relative-date --date: --parents --children --left-right --graph --no-graph --show-linear-break? --count --timestamp --objects --objects-edge --disk-usage? --filter: --use-bitmap-index --bisect --header --clear-decorations --no-commit-header --commit-header -1 -2 -3 -4 -5 -6 -7 -8 -9 --quiet`;

export const GIT_READS: Record<string, string> & { log: string } = {
  status:
    "-sbvuz -u? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --null",
  diff: DIFF,
  "diff-tree": `${LOG} --root --no-commit-id -v`,
  "diff-index": DIFF,
  "diff-files": DIFF,
  "range-diff": `${LOG} --creation-factor: --no-dual-color --left-only --right-only`,
  log: LOG,
  show: `${LOG}`,
  whatchanged: LOG,
  shortlog:
    "-nsec -w? -n --numbered --summary --email --format: --group: --committer --since: --until: --after: --before: --all --no-merges --merges --author: --grep: --max-count: --first-parent",
  blame:
    "-bcflnpstweMC -L: -S:r -M? -C? --root --show-stats --line-porcelain --porcelain --incremental --encoding: --contents:r --date: --ignore-rev: --ignore-revs-file:r --color-lines --color-by-age --score-debug --show-name --show-number --show-email --abbrev? --since: --first-parent --reverse:",
  annotate: "-blet -L:",
  "ls-files":
    "-cdomsiuktvfz -x: -X:r -t --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude: --exclude-from:r --exclude-per-directory: --exclude-standard --error-unmatch --with-tree: --full-name --abbrev? --debug --format: --recurse-submodules --sparse --resolve-undo",
  "ls-tree": "-drtlz --name-only --name-status --object-only --long --full-name --full-tree --abbrev? --format:",
  grep: "-aIiwvhHnlLcoqEGFPpWfzr -A: -B: -C: -e: -f:r -m: -O! --open-files-in-pager! --cached --no-index~ --untracked --no-exclude-standard --exclude-standard --recurse-submodules --text --textconv! --no-textconv --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --context: --after-context: --before-context: --function-context --threads: --and --or --not --all-match --quiet --max-depth: --max-count: --recursive --no-recursive",
  "rev-parse":
    "-q --parseopt~ --sq-quote~ --revs-only --no-revs --flags --no-flags --default: --prefix: --verify --quiet --sq --short? --not --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --glob: --exclude: --disambiguate: --local-env-vars --git-dir --git-common-dir --absolute-git-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository --show-toplevel --show-cdup --show-prefix --show-superproject-working-tree --shared-index-path --since: --until: --resolve-git-dir:d --git-path: --show-object-format? --path-format:",
  "rev-list": LOG,
  describe:
    "--dirty? --broken? --all --tags --contains --abbrev? --candidates: --exact-match --debug --long --match: --exclude: --always --first-parent",
  "name-rev": "--tags --refs: --exclude: --all --name-only --no-undefined --always --annotate-stdin --stdin",
  "merge-base": "-a --all --octopus --independent --is-ancestor --fork-point",
  "merge-tree": "-z --write-tree~ --trivial-merge --name-only --messages --no-messages",
  "for-each-ref":
    "-s --count: --sort: --format: --shell --perl --python --tcl --points-at: --merged? --no-merged? --contains? --no-contains? --ignore-case --color? --exclude: --include-root-refs --omit-empty",
  "show-ref":
    "-hdsq --head --heads --branches --tags --dereference --hash? --verify --exists --abbrev? --quiet --exclude-existing?",
  "show-branch":
    "-arg --all --remotes --current --topo-order --date-order --sparse --more? --list --merge-base --independent --no-name --sha1-name --topics --color? --no-color --reflog?",
  "cat-file":
    "-petsz --textconv! --filters! --batch? --batch-check? --batch-command? --batch-all-objects --unordered --allow-unknown-type --buffer --follow-symlinks --use-mailmap --filter:",
  "count-objects": "-vH --verbose --human-readable",
  "check-ignore": "-qvzn --quiet --verbose --stdin --non-matching --no-index",
  "check-attr": "-az --all --cached --stdin --source:",
  "check-mailmap": "--stdin",
  "check-ref-format": "-p --branch --allow-onelevel --refspec-pattern --normalize",
  cherry: "-v --abbrev?",
  "diff-pairs": DIFF,
  fsck: "-v --root --unreachable --cache --no-reflogs --full --connectivity-only --strict --verbose --dangling --no-dangling --progress --no-progress --name-objects --references",
  "verify-pack": "-vs --verbose --stat-only",
  "verify-commit": "-v --verbose --raw",
  "patch-id": "--stable --unstable --verbatim",
  var: "-l",
  "get-tar-commit-id": "",
  stripspace: "-sc --strip-comments --comment-lines",
};

interface Change {
  does: string;
  usesNetwork?: boolean;
  /** Nobody means it by a rule for all of git: it serves, runs programs or speaks to other systems. */
  isRare?: boolean;
  /** Flags that run programs. */
  refused?: string;
}
const changes = (names: string, change: Change): [string, Change][] => names.split(" ").map((name) => [name, change]);

export const GIT_CHANGES: Record<string, Change> = Object.fromEntries([
  ...changes(
    "add rm mv restore checkout switch commit reset clean merge cherry-pick revert apply tag init gc prune repack pack-refs replace rerere sparse-checkout update-index update-ref read-tree write-tree commit-tree checkout-index mktag mktree unpack-objects index-pack pack-objects prune-packed format-patch mailsplit mailinfo bundle fast-import fast-export interpret-trailers merge-file stage multi-pack-index commit-graph refs backfill",
    { does: "changes the repository" },
  ),
  ...changes("rebase am", { does: "rewrites commits" }),
  ...changes("merge-index merge-one-file", { does: "runs a program", isRare: true }),
  ...changes("push fetch pull clone ls-remote", {
    does: "",
    usesNetwork: true,
    refused: "-u! --upload-pack --receive-pack --exec",
  }),
  ...changes(
    "fetch-pack send-pack http-fetch http-push request-pull send-email svn p4 cvsimport cvsserver daemon instaweb http-backend upload-pack receive-pack shell upload-archive imap-send remote-ext remote-fd",
    { does: "", usesNetwork: true, isRare: true },
  ),
  ...changes("mergetool gui gitk citool gitweb", { does: "opens a program", isRare: true }),
]);
