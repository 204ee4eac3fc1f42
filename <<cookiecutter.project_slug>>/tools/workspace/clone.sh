#!/bin/sh
# Makes a generator's workspace that holds no hidden object, with POSIX sh and git alone, on the trusted host:
#   clone.sh [--mode snapshot|sparse] [--base REV] [--hidden FILE] REPOSITORY DEST
# Does what `gate.py workspace create` does, prints the same pins, and stops where it cannot be as careful.
# FILE lists hidden paths, one a line; the default is what oracle/gate.toml of the base says, in its usual form.
set -eu
umask 022
LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1
GIT_NO_LAZY_FETCH=1 GIT_TERMINAL_PROMPT=0 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
export LC_ALL GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_ATTR_NOSYSTEM GIT_NO_REPLACE_OBJECTS
export GIT_NO_LAZY_FETCH GIT_TERMINAL_PROMPT GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
unset GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS

stop() {
    printf 'clone.sh: %s\n' "$*" >&2
    exit 2
}
real() { # a folder's path and an x: without it, $( ) would eat a newline at the end of a name
    cd -- "$1" && pwd -P && echo x
}

usage='usage: clone.sh [--mode snapshot|sparse] [--base REV] [--hidden FILE] REPOSITORY DEST'
mode=snapshot base=HEAD hidden_file=
while [ $# -gt 2 ]; do
    case $1 in
    --mode) mode=$2 ;;
    --base) base=$2 ;;
    --hidden) hidden_file=$2 ;;
    *) stop "$usage" ;;
    esac
    shift 2
done
[ $# -eq 2 ] || stop "$usage"
case $mode in snapshot | sparse) ;; *) stop "--mode is snapshot or sparse; gate.py workspace create also makes tarballs" ;; esac
case $1 in /*) source=$1 ;; *) source=./$1 ;; esac
case $2 in /*) dest=$2 ;; *) dest=./$2 ;; esac
while [ "$dest" != "${dest%/}" ]; do dest=${dest%/}; done
[ ! -e "$dest" ] && [ ! -L "$dest" ] || stop "$dest exists already; name a new folder"
[ -d "${dest%/*}/" ] || stop "${dest%/*}: no such folder; make it first"
parent=$(real "${dest%/*}/")
parent=${parent%?x}
commit=$(git -C "$source" rev-parse --verify --quiet --end-of-options "$base^{commit}") ||
    stop "$source: no commit $base; name a repository and a revision"
objects=$(cd -- "$source" && git rev-parse --git-path objects && echo x)
objects=$(cd -- "$source" && real "${objects%?x}") && objects=${objects%?x}
top=$(git -C "$source" rev-parse --show-toplevel 2>/dev/null && echo x) || top="${objects%/*} x"
case $parent/ in
"${top%?x}"/* | "${objects%/*}"/*) stop "$dest lies inside the repository that holds the oracle; put it elsewhere" ;;
esac

# A private folder that borrows the repository's objects; nothing of its configuration is obeyed there.
fresh=$(mktemp -d) staging=$parent/.${dest##*/}.$$
trap 'rm -rf -- "$fresh" "$staging"' EXIT
trap 'exit 2' HUP INT TERM
format=$(git -C "$source" rev-parse --show-object-format)
git init -q --bare --template= --object-format="$format" -- "$fresh/store.git"
ln -s -- "$objects" "$fresh/store.git/borrowed"
mkdir -p "$fresh/store.git/objects/info"
echo ../borrowed >"$fresh/store.git/objects/info/alternates"
mkdir "$fresh/nothing"
[ -z "$hidden_file" ] || cp -- "$hidden_file" "$fresh/given"
cd -- "$fresh/nothing"
export GIT_DIR="$fresh/store.git" GIT_INDEX_FILE="$fresh/index" GIT_WORK_TREE="$fresh/nothing"
git read-tree "$commit"

# What is hidden. A form of [view] hidden that these lines do not read is refused, not guessed.
if [ -n "$hidden_file" ]; then
    sed -e 's/[[:space:]]*$//' -e 's|/*$||' -e '/^#/d' -e '/^$/d' "$fresh/given" >"$fresh/hidden"
else
    git cat-file blob "$commit:oracle/gate.toml" >"$fresh/settings" 2>/dev/null ||
        stop "the base has no oracle/gate.toml; pass --hidden FILE"
    sed -e '/^[[:space:]]*#/d' "$fresh/settings" | grep -i 'hidden\|view.*{\|\\u' >"$fresh/line" || :
    list='\["[^"\\#]*"\([[:space:]]*,[[:space:]]*"[^"\\#]*"\)*\][[:space:]]*$'
    if [ ! -s "$fresh/line" ]; then
        printf '%s\n' oracle corpus sealed tools/metamorphic.py >"$fresh/hidden"
    elif [ "$(wc -l <"$fresh/line")" -eq 1 ] && grep -q "^hidden[[:space:]]*=[[:space:]]*$list" "$fresh/line"; then
        sed -e 's/^[^[]*\["//' -e 's/"\][[:space:]]*$//' -e 's/"[[:space:]]*,[[:space:]]*"/\
/g' "$fresh/line" | sed -e 's|/*$||' >"$fresh/hidden"
    else
        stop "oracle/gate.toml: cannot read [view] hidden; pass --hidden FILE"
    fi
fi
[ -s "$fresh/hidden" ] || stop "nothing is hidden; name paths in --hidden FILE"
! grep -q '^/\|^$\|^\.\|/\.\|[^ -~]' "$fresh/hidden" || stop "a hidden path is empty, absolute or odd; correct it"

# Names that a file system may take for a hidden one, beyond letter case: the engine folds them, this cannot.
git ls-files -z | tr '\n\000' '\001\n' >"$fresh/names"
odd='[^ -~]\|[\\:]\|[. ]$'
! cut -d/ -f1 "$fresh/names" | grep -q "$odd" || stop "odd names at the top level; use gate.py workspace create"
set --
while IFS= read -r path; do
    set -- "$@" ":(top,icase,literal)$path"
    case $path in
    */*)
        ! awk -v folder="$(printf '%s' "${path%/*}/" | tr '[:upper:]' '[:lower:]')" '
            index(tolower($0), folder) == 1 { rest = substr($0, length(folder) + 1); sub("/.*", "", rest); print rest }
            ' "$fresh/names" | grep -q "$odd" || stop "odd names beside $path; use gate.py workspace create"
        ;;
    esac
done <"$fresh/hidden"
git ls-files -z -- "$@" | git update-index -z --force-remove --stdin
! git ls-files -s | grep -q '^1[26]0000 ' || stop "the base has links or submodules; use gate.py workspace create"
[ -z "$(git ls-files -- "$@")" ] || stop "hidden paths are left; use gate.py workspace create"

# The snapshot: one commit with fixed names and dates, and the guard's list.
git cat-file blob "$commit:oracle/denylist.txt" >"$fresh/denylist" || stop "the base has no oracle/denylist.txt"
sed -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//' -e '/^#/d' -e 's|/$||' -e '/^$/d' "$fresh/denylist" | awk '
    NR == FNR { print; hidden[tolower($0) "/"]; next }
    { for (path in hidden) if (index(tolower($0) "/", path) == 1) next; print }
    ' "$fresh/hidden" - | sort -u >"$fresh/list"
tree=$(git write-tree)
snapshot=$(
    export GIT_AUTHOR_NAME=workspace GIT_AUTHOR_EMAIL=workspace@invalid GIT_AUTHOR_DATE=1970-01-01T00:00:00Z
    export GIT_COMMITTER_NAME=workspace GIT_COMMITTER_EMAIL=workspace@invalid GIT_COMMITTER_DATE=1970-01-01T00:00:00Z
    printf 'Generator workspace\n\nguard %s\n' "$(git hash-object --stdin <"$fresh/list")" | git commit-tree "$tree"
)
printf '%s\n' "$snapshot" | git pack-objects -q --revs "$fresh/pack" >/dev/null
git cat-file blob "$snapshot:tools/workspace/hook.sh" >"$fresh/hook" 2>/dev/null || :
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE

mkdir -- "$staging"
git init -q --template= --initial-branch=main --object-format="$format" -- "$staging"
(
    cd -- "$staging"
    cp "$fresh"/pack-*.pack .git/objects/pack/
    git -c pack.writeReverseIndex=false index-pack .git/objects/pack/pack-*.pack >/dev/null
    for ref in refs/heads/main refs/tags/base; do git -c core.logAllRefUpdates=false update-ref "$ref" "$snapshot"; done
    mkdir .git/oracle-guard .git/hooks .git/info
    cp "$fresh/list" .git/oracle-guard/denylist
    for name in pre-commit pre-merge-commit pre-push; do
        [ ! -s "$fresh/hook" ] || { cp "$fresh/hook" ".git/hooks/$name" && chmod 755 ".git/hooks/$name"; }
    done
    # Exact bytes, whatever attributes the tree has; they count again from the first edit on.
    echo '* -text !eol !ident !filter !working-tree-encoding' >.git/info/attributes
    git -c core.autocrlf=false read-tree --reset -u "$snapshot"
    rm -r .git/info
    if [ "$mode" = sparse ]; then
        mkdir .git/info
        { echo '/*' && sed -e 's/[[\\*? ]/\\&/g' -e 's|^|!/|' "$fresh/hidden"; } >.git/info/sparse-checkout
        git config core.sparseCheckout true
        git config core.sparseCheckoutCone false
    fi
)
dest=$parent/${dest##*/}
[ ! -e "$dest" ] && [ ! -L "$dest" ] || stop "$dest appeared meanwhile; name a new folder"
mv -- "$staging" "$dest"
printf 'base %s\nsnapshot %s\ntree %s\n' "$commit" "$snapshot" "$tree"
