#!/usr/bin/env bash
# Installs the peers that the benchmarks compare with, from npm, into $BENCH_DIR/inst (outside any repository).
#   install-peers.sh [node22 pi codex gemini]     default: all of them
set -eu
inst=${BENCH_DIR:-${TMPDIR:-/tmp}/agent-bench}/inst
mkdir -p "$inst"
want=${*:-node22 pi codex gemini}
for name in $want; do
  case $name in
    node22) pkg=node@22 ;;
    pi) pkg=@earendil-works/pi-coding-agent@0.87.1 ;;
    codex) pkg=@openai/codex@0.166.0 ;;
    gemini) pkg=@google/gemini-cli@0.61.0 ;;
    *) echo "unknown peer: $name" >&2; exit 2 ;;
  esac
  mkdir -p "$inst/$name"
  # Node 22 first in PATH: npm on Node 20 silently picks older releases
  PATH="$inst/node22/node_modules/node/bin:$PATH" npm i --no-fund --no-audit --prefix "$inst/$name" "$pkg"
done
