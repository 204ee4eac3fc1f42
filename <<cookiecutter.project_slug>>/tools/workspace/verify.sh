#!/bin/sh
# Is this workspace what `workspace create` or clone.sh made, and nothing else? For the generator's host, before the
# session: POSIX sh and git, names and ids only, no oracle needed.
#   verify.sh [--expect-commit ID] [--hidden FILE] DIR
# ID is the snapshot's id that was printed (for an unpacked tarball: the tree's). Without it only names are checked,
# and what HEAD holds is believed. Bring this script along: one that lies in DIR proves nothing.
# Exit 0: nothing found, 1: findings, 2: cannot be checked. `gate.py workspace verify` runs this script.
set -eu
LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1
GIT_NO_LAZY_FETCH=1 GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0
export LC_ALL GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_ATTR_NOSYSTEM GIT_NO_REPLACE_OBJECTS
export GIT_NO_LAZY_FETCH GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS
unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
unset GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT
unset GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS

stop() {
    printf 'verify.sh: %s\n' "$*" >&2
    exit 2
}
usage='usage: verify.sh [--expect-commit ID] [--hidden FILE] DIR'
expected= hidden_file=
while [ $# -gt 1 ]; do
    case $1 in
    --expect-commit) expected=$2 ;;
    --hidden) hidden_file=$2 ;;
    *) stop "$usage" ;;
    esac
    shift 2
done
[ $# -eq 1 ] || stop "$usage"
case $1 in /*) folder=$1 ;; *) folder=./$1 ;; esac
[ -d "$folder" ] || stop "$folder: no such folder; name the workspace"
fresh=$(mktemp -d)
trap 'rm -rf -- "$fresh"' EXIT
trap 'exit 2' HUP INT TERM
if [ -n "$hidden_file" ]; then
    sed -e 's/[[:space:]]*$//' -e 's|/*$||' -e '/^#/d' -e '/^$/d' <"$hidden_file" >"$fresh/hidden"
else
    printf '%s\n' oracle corpus sealed tools/metamorphic.py >"$fresh/hidden"
fi
cd -- "$folder"
: >"$fresh/found"
leak() {
    printf 'ORACLE LEAK %s\n' "$*" >>"$fresh/found"
}
# Whether any of the names on stdin, one a line, is a hidden path or lies below one, in any letter case.
hidden_names() {
    awk 'NR == FNR { hidden[tolower($0) "/"]; next }
        { for (path in hidden) if (index(tolower($0) "/", path) == 1) print }' "$fresh/hidden" -
}
each() { # each KIND: one finding for each line on stdin
    while IFS= read -r line; do leak "$1: $line"; done
}

find . -path ./.git -prune -o -print | sed 's|^\./||' | hidden_names | each 'hidden path'
find . -type f -links +1 | each 'hard link'
find . ! -type f ! -type d ! -type l | each 'special file'
find . -path ./.git -prune -o -type l -print | while IFS= read -r link; do
    case $(readlink "$link") in /* | .. | ../* | */../* | */..) leak "link: $link may leave the workspace" ;; esac
done

report() {
    cat "$fresh/found"
    count=$(wc -l <"$fresh/found" | tr -d ' ')
    pinned='not pinned: pass --expect-commit ID'
    [ -z "$expected" ] || pinned='as pinned'
    [ "$count" -eq 0 ] || { echo "$count finding(s); $1 ($pinned)" && exit 1; }
    echo "nothing hidden by name; $1 ($pinned)"
    exit 0
}

# A private folder to compute ids in: the workspace's own .git is read, never obeyed.
format=sha1
[ ${#expected} -ne 64 ] || format=sha256
if [ -d .git ] && [ ! -L .git ]; then
    found=$(git config --file .git/config --no-includes extensions.objectformat) && format=$found
fi
git init -q --bare --template= --object-format="$format" -- "$fresh/store.git"
mkdir "$fresh/store.git/info"
echo '* -text !eol !ident !filter !working-tree-encoding' >"$fresh/store.git/info/attributes"
export GIT_DIR="$fresh/store.git"
mkdir "$fresh/objects"
tree=$(
    export GIT_WORK_TREE=. GIT_INDEX_FILE="$fresh/files" GIT_OBJECT_DIRECTORY="$fresh/objects"
    git -c core.bare=false -c core.autocrlf=false -c advice.addEmbeddedRepo=false add --all --force . && git write-tree
) || stop "$folder cannot be read"
if [ ! -e .git ] && [ ! -L .git ]; then
    [ -z "$expected" ] || [ "$expected" = "$tree" ] || leak "not as pinned: these files make the tree $tree"
    report "tree $tree"
fi
if [ ! -d .git ] || [ -L .git ]; then
    leak 'git folder: .git lies elsewhere'
    report 'no commit'
fi

{
    find .git ! -type f ! -type d
    find .git -type f | sed 's|^\.git/||' | grep -Ev -e '^(HEAD|config|index|refs/heads/main|refs/tags/base)$' \
        -e '^(info/sparse-checkout|oracle-guard/denylist|hooks/pre-(commit|merge-commit|push))$' \
        -e '^objects/pack/pack-[0-9a-f]+\.(pack|idx)$'
} | each 'not of a fresh workspace' || :
tab=$(printf '\t')
grep -Ev -e '^\[(core|extensions)\]$' -e "^$tab(bare|filemode|ignorecase|logallrefupdates|precomposeunicode|symlinks) = (true|false)\$" \
    -e "^$tab(sparseCheckout|sparseCheckoutCone) = (true|false)\$" -e "^$tab(repositoryformatversion = [01]|objectformat = sha(1|256))\$" \
    .git/config | each 'setting' || :
for pack in .git/objects/pack/*.pack; do # an .idx could leave an object out: it is computed again
    copy=$fresh/store.git/objects/pack/${pack##*/}
    cp -- "$pack" "$copy" && git -c pack.writeReverseIndex=false index-pack "$copy" >/dev/null 2>&1 &&
        cmp -s "${copy%.pack}.idx" "${pack%.pack}.idx" || leak "not what its name says: $pack"
done
commit=$expected
[ -n "$commit" ] || commit=$(cat .git/refs/heads/main 2>/dev/null) || :
git rev-parse --verify --quiet --end-of-options "$commit^{commit}" >/dev/null || {
    leak "not as pinned: no pack holds the commit ${commit:-of HEAD}"
    report 'no commit'
}
git rev-list --objects "$commit" >"$fresh/reachable"
git cat-file --batch-all-objects --batch-check='%(objectname)' | sort >"$fresh/all"
cut -d' ' -f1 "$fresh/reachable" | sort -u | comm -23 "$fresh/all" - | each 'object not reachable'
cut -d' ' -f2- "$fresh/reachable" | hidden_names | each 'hidden path in a commit'
[ "$tree" = "$(git rev-parse "$commit^{tree}")" ] || leak "not as committed: the files make the tree $tree"

same() { # same FILE TEXT: the file, if it is there, holds the text and a line end
    [ ! -f "$1" ] || printf '%s\n' "$2" | cmp -s - "$1" || leak "not as pinned: $1"
}
same .git/HEAD 'ref: refs/heads/main'
same .git/refs/heads/main "$commit"
same .git/refs/tags/base "$commit"
git cat-file blob "$commit:tools/workspace/hook.sh" >"$fresh/hook" 2>/dev/null || :
for name in pre-commit pre-merge-commit pre-push; do
    [ ! -f ".git/hooks/$name" ] || cmp -s "$fresh/hook" ".git/hooks/$name" || leak "hook: $name is not the workspace's own"
done
list=.git/oracle-guard/denylist
[ -f "$list" ] || list=/dev/null
git cat-file commit "$commit" | grep -q "^guard $(git hash-object --stdin <"$list")\$" || leak "not as pinned: $list"
[ ! -f .git/info/sparse-checkout ] ||
    sed 's|^!/||' .git/info/sparse-checkout | grep -v -x -F -e '/*' -f "$list" | each 'sparse-checkout pattern' || :
git ls-tree -r "$commit" | sed 's/^\([0-9]*\) [a-z]* \([0-9a-f]*\)/\1 \2 0/' >"$fresh/expected"
cp .git/index "$fresh/index" 2>/dev/null || : >"$fresh/index"
export GIT_INDEX_FILE="$fresh/index" GIT_WORK_TREE=.
{ git ls-files --stage && git ls-files --resolve-undo; } 2>/dev/null | cmp -s - "$fresh/expected" &&
    git update-index --force-write-index 2>/dev/null && [ "$(wc -c <"$fresh/index")" -eq "$(wc -c <.git/index)" ] ||
    leak 'not as pinned: .git/index'
report "commit $commit"
