#!/bin/sh
# Starts Synaptic with these arguments: the program that `synaptic setup` noted, else the one on the PATH.
PATH="$PATH:$HOME/.local/bin"
for state in "${XDG_STATE_HOME:-$HOME/.local/state}" "$HOME/Library/Application Support"; do
    words=$(cat "$state/synaptic/command" 2>/dev/null) || continue
    if (eval "set -- $words" && [ -x "$1" ]); then
        eval "exec $words \"\$@\""
    fi
done
command -v synaptic-journal >/dev/null 2>&1 && exec synaptic-journal "$@"
echo "Synaptic was not found. Run \`synaptic setup claude-code\` once: this plugin then knows where it is." >&2
exit 127
