# shellcheck shell=bash
# Part of the supervisor: output past its limit loses its middle, where it lies. jobs/output.ts reads what is kept, at any moment.
#
# A hole is made between the first bytes and the last, so that nothing moves, nobody is stopped, and whoever is killed or reads
# meanwhile finds both ends. The link `cut` announces it: a link is there whole or not at all, also on a full disk.
# Where no hole can be made (the file system, no program for it), head and tail are copied and `out` is emptied while the command's
# process group is stopped. A process that left that group goes on: what it writes in that moment is lost.
#
# By number of the worker: hole_ends (the end of the hole, 0: none), emptied_bytes (how much was printed before `out` was last
# emptied, 0: never), output_sizes, job_groups. kept_bytes: how much is kept of each end.

# announce_cut JOB_DIR TARGET; the target is "KEPT", or "KEPT PRINTED SIZE" when out is emptied: what was printed until then, and
# how long out was before that (0: it is emptied now).
announce_cut() {
  ln -sfn "$2" "$1/cut.new" && mv -f "$1/cut.new" "$1/cut"
}

# punch_hole FILE FROM LENGTH; macOS has no program for it, but the call F_PUNCHHOLE (99).
punch_hole() {
  case $OSTYPE in
    darwin*) perl -e 'open(F, "+<", $ARGV[0]) && fcntl(F, 99, pack("L2q2", 0, 0, @ARGV[1, 2])) or exit 1' "$1" "$2" "$3" ;;
    *) fallocate -p -o "$2" -l "$3" "$1" ;;
  esac
}

# shorten_output NUMBER JOB_DIR SIZE; holes begin and end at whole blocks of 4096 bytes.
shorten_output() {
  local number=$1 dir=$2 size=$3 before printed
  local from=$(((kept_bytes + 4095) / 4096 * 4096)) to=$((($3 - kept_bytes) / 4096 * 4096))
  [ "$to" -gt "$from" ] || return
  if [ "${emptied_bytes[number]}" = 0 ]; then
    [ -L "$dir/cut" ] || announce_cut "$dir" "$kept_bytes" || return
    if punch_hole "$dir/out" "$from" $((to - from)); then
      hole_ends[number]=$to
      return
    fi
  fi
  kill -STOP -- "-${job_groups[number]}"
  # A process may still be in the middle of a write.
  for _ in 1 2 3 4 5; do
    before=$size
    sleep .02
    size=$(wc -c <"$dir/out")
    [ "$size" != "$before" ] || break
  done
  printed=$((emptied_bytes[number] + size))
  { [ -e "$dir/out.head" ] || { head -c "$kept_bytes" "$dir/out" >|"$dir/out.head.new" && mv "$dir/out.head.new" "$dir/out.head"; }; } &&
    tail -c "$kept_bytes" "$dir/out" >|"$dir/out.tail.$printed" &&
    announce_cut "$dir" "$kept_bytes $printed $size" &&
    : >|"$dir/out" && {
    announce_cut "$dir" "$kept_bytes $printed 0"
    rm -f "$dir/out.tail.${emptied_bytes[number]}"
    emptied_bytes[number]=$printed hole_ends[number]=0 output_sizes[number]=0
  }
  kill -CONT -- "-${job_groups[number]}"
}
