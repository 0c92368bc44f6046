#!/bin/sh
# Runs a hook of Synaptic. Whatever goes wrong, the session goes on without it: the exit status is always 0.
case $1 in
session-start | subagent-start) setting= ;;
session-end) setting='capture *= *true' ;;
pre-tool | tool-failure) setting='tools *= *true' ;;
*) setting=$(echo "$1" | tr - _) ;;
esac
# off unless config.toml says otherwise: then nothing waits for a program that has nothing to say
[ -z "$setting" ] || grep -qs "^ *$setting" "${SYNAPTIC_HOME:-$HOME/.synaptic}/config.toml" || exit 0
# `synaptic setup` may have registered this hook, too: then this one is silent
grep -qs "synaptic.* hook .*$1" "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json" && exit 0
sh "$(dirname "$0")/../synaptic.sh" hook --client claude-code "$1" 2>/dev/null || exit 0
