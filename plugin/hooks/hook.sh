#!/bin/sh
# Runs a hook of Synaptic. Whatever goes wrong, the session goes on without it: the exit status is always 0.
if [ "$1" != session-start ]; then
    # off unless config.toml says otherwise: then nothing waits for a program that has nothing to say
    grep -qs "^ *$(echo "$1" | tr - _)" "${SYNAPTIC_HOME:-$HOME/.synaptic}/config.toml" || exit 0
fi
# `synaptic setup` may have registered the hooks, too: then these are silent
grep -qs 'synaptic.* hook .*session-start' "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json" && exit 0
sh "$(dirname "$0")/../synaptic.sh" hook "$1" 2>/dev/null || exit 0
