#!/usr/bin/env bash
# verify-checkout.sh FOLDER: what landed there is what git would have put there. COMMIT is the commit that the action says it
# checked out; FILES (optional) how many files it says it wrote; REPORT (optional) the path of its report.
set -euo pipefail

folder=$1
: "${COMMIT:?}"

fail() {
  echo "$folder: $*" >&2
  exit 1
}

in_folder() { git -C "$folder" "$@"; }

[[ $(in_folder rev-parse HEAD) == "$COMMIT" ]] || fail "HEAD is not $COMMIT"
# The folder that holds this script was checked out by actions/checkout from the same event.
[[ $(git rev-parse HEAD) == "$COMMIT" ]] || fail "actions/checkout chose another commit: $(git rev-parse HEAD)"
[[ $(in_folder write-tree) == "$(in_folder rev-parse 'HEAD^{tree}')" ]] || fail 'the index is not the tree of HEAD'
cmp <(git ls-files -s) <(in_folder ls-files -s) || fail 'the index is not the one that actions/checkout leaves'
[[ -z $(in_folder status --porcelain) ]] || fail "not clean: $(in_folder status --porcelain)"
in_folder fsck --no-progress || fail 'fsck finds faults'

# git status trusts the stat data in the index. With a new index it reads every file again.
index=$(mktemp -d)/index
GIT_INDEX_FILE=$index in_folder read-tree HEAD
differing=$(GIT_INDEX_FILE=$index in_folder status --porcelain)
[[ -z $differing ]] || fail "files differ from the commit: $differing"

count=$(in_folder ls-files | wc -l | tr -d ' ')
if [[ -n ${FILES:-} ]]; then
  [[ $FILES == "$count" ]] || fail "the action says $FILES files, the index has $count"
fi
if [[ -n ${REPORT:-} ]]; then
  node -e '
    const report = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    if (report.commit !== process.argv[2]) throw new Error(`the report is about ${report.commit}`);
    if (!(report.plan.reasons.length > 0)) throw new Error("the plan gives no reasons");
  ' "$REPORT" "$COMMIT"
fi
echo "$folder: $count files of $COMMIT, as git would have them"
