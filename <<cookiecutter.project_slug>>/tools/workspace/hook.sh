#!/bin/sh
# Hook of a generator's workspace (pre-commit, pre-merge-commit, pre-push): refuses changes of human-owned paths.
# Names only: nothing of the oracle is here to compare with. It catches honest mistakes; the judge decides.
set -u
unset GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS
common=$(git rev-parse --git-common-dir && echo x) || exit 1
base=$(git rev-parse -q --verify 'refs/tags/base^{commit}') || base=HEAD

set -- ':(top,icase,glob)**/.gitattributes' ':(top,icase,glob)**/.gitmodules'
for own in oracle corpus sealed tools/gate.py tools/replay_gate.py tools/replay_harness.py tools/metamorphic.py \
    tools/oracle_guard.py tools/workspace tools/oracle_gate noxfile.py Makefile GNUmakefile \
    .pre-commit-config.yaml .github .gitlab-ci.yml CODEOWNERS docs/CODEOWNERS .gitlab/CODEOWNERS .cruft.json .gate \
    .circleci .gitea .forgejo .woodpecker .woodpecker.yml azure-pipelines.yml Jenkinsfile .travis.yml \
    bitbucket-pipelines.yml
do
    set -- "$@" ":(top,icase,literal)$own"
done
if [ -f "${common%?x}/oracle-guard/denylist" ]; then
    while IFS= read -r rule; do
        [ -z "$rule" ] || set -- "$@" ":(top,icase,literal)$rule"
    done <"${common%?x}/oracle-guard/denylist"
fi

changed() {
    git --no-pager -c core.quotePath=true diff --name-only --no-renames --no-ext-diff --no-relative \
        --ignore-submodules=none "$@"
}

case ${0##*/} in
pre-push)
    found=
    while read -r _ tip _ _; do
        case $tip in
        *[!0]*) found=$found$(changed "$base" "$tip" -- "$@") || exit 1 ;;
        esac
    done
    ;;
*) found=$(changed --cached "$base" -- "$@") || exit 1 ;;
esac
[ -n "$found" ] || exit 0
printf '%s\n' "$found" 'oracle-guard: these paths belong to humans; a change that touches one is never merged.' \
    'Undo it: git checkout base -- PATH (or git rm PATH), then go on.' >&2
exit 1
