// The flags of git's changing commands that a rule with a wildcard means; the reading ones have their own table.

const FETCH =
  "-aptnfqvkP46 -j: --all --prune --prune-tags --tags --no-tags --depth: --deepen: --unshallow --force --quiet --verbose --dry-run --multiple --jobs: --progress --no-progress --shallow-since: --atomic --set-upstream --append --refetch --filter: --no-recurse-submodules";
const CHECKOUT =
  "-tfqmdplSW23 -b: -B: -c: -C: -s: --track? --no-track --force --quiet --merge --detach --orphan: --guess --no-guess --ours --theirs --patch --progress --no-progress --ignore-other-worktrees --discard-changes --create: --force-create: --source: --staged --worktree --overlay --no-overlay --conflict:";
const PICK =
  "-nxse -m: -X: --no-commit --no-edit --edit --abort --continue --skip --quit --mainline: --signoff --allow-empty --keep-redundant-commits --ff --strategy-option:";
const APPLY =
  "-3RvNksqi -p: -C: --3way --check --stat --numstat --summary --index --cached --reverse --reject --whitespace: --verbose --recount --include: --exclude: --unidiff-zero --abort --continue --skip --signoff --quiet --ignore-whitespace --ignore-space-change --intent-to-add --keep-cr";

/** Under the empty name: for all others. */
export const GIT_ORDINARY: Record<string, string> & { "": string } = {
  "": "-qvn --quiet --verbose --dry-run --progress --no-progress",
  add: "-AunvpiNf --all --update --dry-run --verbose --patch --interactive --intent-to-add --ignore-errors --chmod: --no-all --renormalize --force --refresh --sparse",
  stage: "-AunvpNf --all --update --dry-run --verbose --patch --intent-to-add --force",
  commit:
    "-avqnsepoi -m: -F: -C: -u? --all --message: --file: --amend --no-edit --edit --no-verify --allow-empty --allow-empty-message --fixup: --squash: --author: --date: --signoff --verbose --quiet --dry-run --patch --no-gpg-sign --only --include --cleanup: --trailer: --reset-author --no-post-rewrite --porcelain --short --branch --reuse-message: --status --no-status --untracked-files?",
  push: "-unvq46 --set-upstream --tags --follow-tags --force-with-lease? --force-if-includes --all --dry-run --verbose --quiet --no-verify --atomic --progress --no-progress --porcelain --branches",
  fetch: FETCH,
  pull: `${FETCH} -r -X: --rebase? --ff-only --no-rebase --ff --no-ff --autostash --no-autostash --no-edit --squash --commit --no-commit --stat --no-stat --strategy-option: --allow-unrelated-histories --no-verify`,
  merge:
    "-nqve -m: -X: -F: --no-ff --ff --ff-only --squash --no-squash --no-commit --commit --abort --continue --quit --no-edit --edit --strategy-option: --stat --no-stat --quiet --verbose --allow-unrelated-histories --autostash --no-verify --progress --log? --signoff --into-name:",
  rebase:
    "-iqvfmrnx -X: --interactive --onto: --abort --continue --skip --quit --autosquash --no-autosquash --autostash --no-autostash --root --rebase-merges? --strategy-option: --quiet --verbose --keep-base --fork-point --no-fork-point --no-verify --update-refs --committer-date-is-author-date --reset-author-date --edit-todo --show-current-patch --empty: --keep-empty --no-keep-empty --force-rebase --no-ff --apply --merge --exec: --signoff --stat",
  checkout: CHECKOUT,
  switch: CHECKOUT,
  restore: CHECKOUT,
  reset: "-qpN --soft --mixed --hard --keep --merge --quiet --patch --refresh --no-refresh",
  stash:
    "-uakqpS -m: --include-untracked --all --keep-index --no-keep-index --message: --patch --staged --index --quiet",
  branch:
    "-dDmMcCftqvarli -u: --delete --move --copy --force --set-upstream-to: --unset-upstream --track? --no-track --list --all --remotes --show-current --merged? --no-merged? --contains? --sort: --format: --verbose --quiet",
  tag: "-adfl -m: -n? -F: --annotate --delete --force --message: --list --sort: --contains: --points-at: --merged: --no-merged: --format: --no-sign --file:",
  "cherry-pick": PICK,
  revert: PICK,
  clean: "-fdxXnqi -e: --force --dry-run --quiet --exclude: --interactive",
  rm: "-rfnq --cached --force --dry-run --quiet --ignore-unmatch --sparse",
  mv: "-fknv --force --verbose --dry-run",
  clone:
    "-qvn -b: -o: -j: --depth: --branch: --single-branch --no-single-branch --quiet --verbose --progress --no-tags --shallow-since: --filter: --no-checkout --sparse --origin: --jobs: --recurse-submodules? --shallow-submodules",
  worktree:
    "-fdvnqz -b: -B: --force --detach --lock --track --no-track --porcelain --dry-run --expire: --reason: --checkout --no-checkout --orphan --verbose",
  am: APPLY,
  apply: APPLY,
  init: "-q -b: --initial-branch: --quiet --bare",
  "format-patch":
    "-nNksM123456789 -o: -v: --stdout --cover-letter --base: --signoff --subject-prefix: --start-number: --numbered --no-numbered --root --zero-commit --no-signature --stat --output-directory:",
  gc: "-q --auto --quiet --aggressive --no-prune --force --prune?",
  submodule:
    "-qfj --init --recursive --remote --quiet --depth: --jobs: --force --no-fetch --rebase --merge --progress --single-branch --cached -b: --branch: --name:",
  remote: "-vnp --verbose --dry-run --prune --push --all --tags --add --delete",
  notes: "-f -m: --ref: --force",
  bisect: "--no-checkout --first-parent --term-new: --term-old:",
  "ls-remote": "-htqb --heads --branches --tags --refs --quiet --exit-code --get-url --sort: --symref",
  "sparse-checkout": "--cone --no-cone --sparse-index --no-sparse-index",
  config:
    "-lez --list --get --get-all --get-regexp --show-origin --show-scope --name-only --local --type: --default: --null",
  reflog:
    "-qn -n: --all --date: --format: --oneline --dry-run --expire: --expire-unreachable: --rewrite --updateref --verbose",
  maintenance: "--task: --auto --quiet",
  lfs: "-lnas --all --long --size --name-only --json --dry-run --include: --exclude: --porcelain",
  "update-index":
    "-q --refresh --really-refresh --assume-unchanged --no-assume-unchanged --skip-worktree --no-skip-worktree --chmod: --add --remove --force-remove --again",
  "update-ref": "-d -m: --create-reflog --no-deref",
  "rev-parse": "",
  archive: "-v -o: --format: --prefix: --output: --list",
};
