# shellcheck shell=bash
# Part of the supervisor: a command that has network dies with the lease of its agent, also when the harness is gone, stopped or cut off.
#
# Such a job has a file `until`, which names one in the directory of all jobs. There stands until when the lease holds: in milliseconds
# since the boot (`-` where the system does not tell), and by the wall clock. Whichever comes first counts: a clock may stand still in
# sleep, or be set back. The harness writes it at each renewal.

# look_at_clocks: sets uptime_ms, wall_ms.
look_at_clocks() {
  uptime_ms='' wall_ms=''
  { read -r uptime_ms _ </proc/uptime; } 2>/dev/null
  [ -z "$uptime_ms" ] || uptime_ms=$((10#${uptime_ms/./} * 10))
  if [ -n "${EPOCHREALTIME-}" ]; then
    wall_ms=$((10#${EPOCHREALTIME//[.,]/} / 1000))
  else
    wall_ms=$(date +%s)000
  fi
}

# time_left FILE; sets left_ms: nothing is left where the file is not there any more.
time_left() {
  local uptime_until='' wall_until=''
  left_ms=0
  { read -r uptime_until wall_until <"$jobs_dir/$1"; } 2>/dev/null
  [ -n "$wall_until" ] || return
  look_at_clocks
  left_ms=$((wall_until - wall_ms))
  case $uptime_until in
    - | '') ;;
    *) [ -z "$uptime_ms" ] || [ $((uptime_until - uptime_ms)) -ge "$left_ms" ] || left_ms=$((uptime_until - uptime_ms)) ;;
  esac
}

# end_with_lease NUMBER JOB_DIR; succeeds when it was ended. Otherwise deadline_ms is not later than its deadline.
end_with_lease() {
  local file='' left_ms uptime_ms wall_ms
  [ -e "$2/until" ] || return 1
  read -r file <"$2/until"
  time_left "$file"
  if [ "$left_ms" -gt 0 ]; then
    [ "$left_ms" -ge "$deadline_ms" ] || deadline_ms=$left_ms
    return 1
  fi
  [ -e "$2/killed" ] || echo lease >|"$2/killed"
  kill -9 -- "-${job_groups[$1]}" 2>/dev/null
}

# look_in_time: the next look is not later than the first deadline.
look_in_time() {
  [ "$deadline_ms" -lt 1000 ] && [ "${BASH_VERSINFO[0]}" -ge 4 ] || return
  [ "$patience" = "$patience_growing" ] && [ "$deadline_ms" -gt 200 ] || printf -v patience '0.%03d' "$deadline_ms"
}

# stand_in: once the supervisor is gone, which may have been killed together with its harness, what it left ends with its lease all the
# same. It is gone by itself when nothing of its commands runs; without any lease that has a deadline nobody waits for that.
stand_in() {
  local dir group its_tag file='' left_ms uptime_ms wall_ms deadlines=("$jobs_dir/.until-"*) runs=1
  [ -e "${deadlines[0]}" ] || return
  exec 3>&-
  while kill -0 $$; do sleep 1; done
  while [ $runs = 1 ]; do
    runs=0
    for dir in "$jobs_dir"/job_*/ "$jobs_dir"/job_*/[0-9]*/; do
      if [ ! -e "${dir}until" ] || [ -s "${dir}exit" ] || [ -L "${dir}exit" ]; then continue; fi
      { read -r _ && read -r group _ && read -r its_tag; } <"${dir}started" || continue
      [ "$its_tag" = "$tag" ] || continue
      kill -0 -- "-$group" || continue
      read -r file <"${dir}until"
      time_left "$file"
      runs=1
      [ "$left_ms" -le 0 ] || continue
      [ -e "${dir}killed" ] || echo lease >|"${dir}killed"
      kill -9 -- "-$group"
    done
    [ $runs = 0 ] || sleep .2
  done
}
