# shellcheck shell=bash
# Part of the supervisor: a worker keeps one shell ready for the next command (command.sh). When that has ended it writes `exit`,
# kills what is left of the process group (`cmd &` dies with the call), tells the harness, and makes the next shell ready.

# write_exit CODE JOB_DIR; sets exit_told, the code as the harness is told it. Somebody may have written `exit` already (a timeout):
# then the harness is to look. A full disk takes no more text, but a link's short target still.
write_exit() {
  exit_told=$1
  { echo "$1" >"$2/exit"; } 2>/dev/null && return
  if [ -s "$2/exit" ] || [ -L "$2/exit" ]; then
    exit_told='?'
  else
    ln -sfn "$1" "$2/exit"
  fi
}

# worker NUMBER [WRAP…]; WRAP: what goes in front of the command's shell, a sandbox.
worker() {
  local number=$1 worker_stat='' worker_pid shell_stat shell_pid='' code said job dismissed exit_told
  shift
  exec 7<&-
  set -m
  { read -r worker_stat </proc/self/stat; } 2>/dev/null
  worker_pid=${worker_stat%% *}
  : "${worker_pid:=$(exec sh -c 'echo $PPID')}"
  trap 'kill -9 -- "-$shell_pid"; exit' TERM
  echo "ready $number"
  while :; do
    (
      trap - PIPE TERM
      PATH=$user_path
      shell_stat=
      { read -r shell_stat </proc/self/stat; } 2>/dev/null
      shell_pid=${shell_stat%% *}
      : "${shell_pid:=$(exec sh -c 'echo $PPID')}"
      exec "$@" /bin/bash --norc -c "$command_program" bash \
        "$jobs_dir_inside" "$worker_pid $worker_stat" "$shell_pid $shell_stat" "$worker_pid $shell_pid $number" "$tag" "$user_umask" \
        >/dev/null 2>|"$jobs_dir/.err$tag.$number" 5<>"$jobs_dir/.end$tag.$number"
    ) &
    shell_pid=$!
    wait "$shell_pid"
    code=$?
    # The line that dismisses a worker may come before the word of the shell that just took a job: it is kept for later.
    said='' dismissed=
    while IFS= read -r -t 2 -u 6 said && [ -z "$said" ]; do dismissed=1; done
    case $said in
      "$taken "*)
        job=${said#"$taken "}
        take_away "$job"
        write_exit "$code" "$jobs_dir/$job"
        kill -9 -- "-$shell_pid" 2>/dev/null
        if [ "$number" -gt "$steady_workers" ]; then
          echo "ended $job $exit_told"
          break
        fi
        echo "ended $job $exit_told $number"
        echo "$ended $number" >&8
        ;;
      "$lost "*) echo "ended ${said#"$lost "} ? $number" ;;
      "$idle") ;;
      "$quit") break ;;
      *)
        echo "failed $number"
        sleep 1
        ;;
    esac
    # A worker that said that it is there serves once before it looks whether its supervisor is: it may have been given a job since.
    [ -z "$dismissed" ] || break
    kill -0 $$ 2>/dev/null || break
  done
  [ "$number" -le "$steady_workers" ] || rm -f "$jobs_dir/.go$tag.$number" "$jobs_dir/.end$tag.$number" "$jobs_dir/.err$tag.$number"
  echo "$left $number" >&8
}
