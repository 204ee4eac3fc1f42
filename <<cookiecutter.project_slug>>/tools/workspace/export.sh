#!/bin/sh
# Writes a workspace's commits as a patch, with POSIX sh and git alone, on the generator's host:
#   export.sh [--expect-commit ID] DIR PREFIX
# makes PREFIX.mbox (git format-patch, for one mail a commit) and PREFIX.diff (the whole as one diff), and prints the
# ids of the snapshot, of the last commit and of its tree. Ship these files and nothing else of the workspace.
# `gate.py workspace export` runs this script.
set -eu
LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1
GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0
export LC_ALL GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_ATTR_NOSYSTEM GIT_NO_REPLACE_OBJECTS
export GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS
unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
unset GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT

stop() {
    printf 'export.sh: %s\n' "$*" >&2
    exit 2
}
usage='usage: export.sh [--expect-commit ID] DIR PREFIX'
expected=
[ $# -ne 4 ] || [ "$1" != --expect-commit ] || { expected=$2 && shift 2; }
[ $# -eq 2 ] || stop "$usage"
case $1 in /*) folder=$1 ;; *) folder=./$1 ;; esac
case $2 in /*) prefix=$2 ;; *) prefix=./$2 ;; esac
[ -d "$folder" ] || stop "$folder: no such folder; name the workspace"
in_workspace() {
    git -C "$folder" --no-pager -c core.fsmonitor=false -c core.hooksPath=/dev/null -c safe.directory='*' "$@"
}
head=$(in_workspace rev-parse --verify --quiet 'HEAD^{commit}') || stop "$folder: no commit; commit the work first"
if [ -n "$expected" ]; then
    start=$(in_workspace rev-parse --verify --quiet --end-of-options "$expected^{commit}") || start=
elif ! start=$(in_workspace rev-parse --verify --quiet 'refs/tags/base^{commit}'); then
    start=$(in_workspace rev-list --max-parents=0 HEAD)
fi
case $start in *[!0-9a-f]* | '') stop "$folder: the snapshot's commit is not here; pass --expect-commit ID" ;; esac
[ -z "$(in_workspace status --porcelain --untracked-files=all)" ] ||
    stop "$folder: files differ from the last commit; commit, ignore or remove them"
tree=$(in_workspace rev-parse 'HEAD^{tree}')
[ "$tree" != "$(in_workspace rev-parse "$start^{tree}")" ] || stop "$folder: nothing was changed; commit the work first"
# A private folder that borrows the objects: no setting of the workspace changes the patch.
objects=$(cd -- "$folder" && git rev-parse --git-path objects && echo x)
objects=$(cd -- "$folder" && cd -- "${objects%?x}" && pwd -P && echo x)
fresh=$(mktemp -d)
trap 'rm -rf -- "$fresh"' EXIT
trap 'exit 2' HUP INT TERM
git init -q --bare --template= --object-format="$(in_workspace rev-parse --show-object-format)" -- "$fresh/store.git"
ln -s -- "${objects%?x}" "$fresh/store.git/borrowed"
mkdir -p "$fresh/store.git/objects/info"
echo ../borrowed >"$fresh/store.git/objects/info/alternates"
GIT_DIR=$fresh/store.git
export GIT_DIR

# One mail a commit if each has one parent and the snapshot is the first; else one commit that does the same.
range=$start..$head
if ! git merge-base --is-ancestor "$start" "$head" || [ -n "$(git rev-list --min-parents=2 "$range")" ]; then
    range=$(
        GIT_AUTHOR_NAME=$(git log -1 --format=%an "$head") GIT_AUTHOR_EMAIL=$(git log -1 --format=%ae "$head")
        export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
        export GIT_COMMITTER_NAME=workspace GIT_COMMITTER_EMAIL=workspace@invalid
        git log -1 --format=%B "$head" | git commit-tree -p "$start" "$tree"
    )
    range=$start..$range
fi
form='--binary --full-index --no-renames --no-ext-diff --no-textconv --no-color'
git format-patch --stdout --no-stat --no-signature $form "$range" >"$prefix.mbox"
git diff-tree -r -p $form "$start" "$head" >"$prefix.diff"
printf 'snapshot %s\nhead %s\ntree %s\nmbox %s\ndiff %s\n' "$start" "$head" "$tree" "$prefix.mbox" "$prefix.diff"
