# shellcheck shell=sh
# Runs a server that dies with the harness: "$@" is its command.
#
# Descriptor 3 is a pipe that nobody writes to: it ends when the harness does, also by kill -9. Then the watcher, which belongs to
# the server's own process group, ends that group. The server takes the place of this shell, so that what is signalled is the server.
( trap '' TERM; read -r _ <&3; kill -TERM 0; sleep 1; kill -KILL 0 ) >/dev/null 2>&1 </dev/null &
exec "$@" 3<&-
