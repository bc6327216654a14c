# shellcheck shell=bash
# The supervisor: one shell between a harness and its commands, which outlives the harness. (Starting commands from the harness
# itself would cost more with every megabyte it holds.) Its workers each keep a shell ready for the next command (worker.sh); `set -m`
# gives every command a process group of its own, and spares it the SIGINT that a shell makes background commands ignore.
# The supervisor watches the time limit and the limit on output, adds a worker that serves once when all others have been busy for a
# moment, and stays until its last worker has gone: that one may just have been given a job.
#
# It is started with `--norc`, because a bash whose input is a socket takes itself for a remote login and reads the user's files.
#
# Arguments: seconds a command may run; bytes of output it may print; bytes kept of each end of a longer one; number of steady
# workers; how often a forbidden path may be made again in the background; the directory of all jobs as this shell sees it, and as a
# command's shell does; the program of a command's shell (command.sh); the tag in the names of its files; a number and so many
# forbidden paths; a number and so many words of links (take-away.sh); the rest goes in front of every command's shell: a sandbox.
#
# Messages, a line each. NUMBER is that of a worker, JOB the name of a job's directory.
# In the pipes they begin with one letter: a `read` with a time limit makes three system calls for each letter. The names are those
# of the variables below; command.sh writes the letters.
#
#   to the harness (standard output; supervisor-messages.ts reads them)
#     ready NUMBER                  a worker is there: it takes a job through its pipe
#     ended JOB CODE [NUMBER]       nothing of the job is left; `?` for the code: look into its directory; the worker is free again
#     failed NUMBER                 its shell could not be started: .err says why
#   to a worker's shell (the pipe .go; descriptor 6)
#     JOB, CWD                      two lines from the harness: the job, and where it runs
#     (an empty line)               from the supervisor: no more jobs
#   from a worker's shell to its worker (the same pipe)
#     t JOB                         taken: it made `started` first, and runs the command
#     l JOB                         lost: somebody else had made `started`; it did nothing
#     i                             idle: no job came for ten minutes
#     q                             quit: it read the empty line
#   to the supervisor (descriptor 8)
#     t WORKER GROUP NUMBER JOB     taken: a shell runs the job; pids of its worker and of itself, which leads the process group
#     e NUMBER                      ended: the worker is free again
#     x NUMBER                      left: the worker has gone
#     q                             quit: the harness has no more jobs, or is gone
#
# Descriptors: 3 is open as long as any of them lives (.done), 5 is held by a command's shell alone (.end: who reads there learns
# that the shell is gone), 6 is a worker's own pipe (.go), 7 ends with the harness, 8 takes messages to the supervisor, 9 is the
# directory of all jobs. Files beside these: .err what a shell that could not be started printed, .absent what must not be there,
# .spared what of it a person allowed, .beat when any command was last seen alive.
set -m -C
exec 2>/dev/null
taken=t lost=l idle=i quit=q ended=e left=x
# The search path is the user's, and may begin with what a command could write: programs used here are looked for in the system first.
user_path=$PATH PATH=/usr/bin:/bin:$PATH
time_limit=$1 output_limit=$2 kept_bytes=$3 steady_workers=$4 most_remade=$5
jobs_dir=$6 jobs_dir_inside=$7 command_program=$8 tag=$9
shift 9
count=$1
shift
forbidden_paths=("${@:1:count}")
shift "$count"
count=$1
shift
links=("${@:1:count}")
shift "$count"
user_umask=$(umask)
umask 077

# Whether jobs may still come; whether the workers were dismissed; how often forbidden paths were there again; when watch last
# looked; the beginning of a message that a signal or the clock cut off; the number of the last worker; how many wait for a job.
accepting=1 dismissed=0 remade=0 looked_at=0 partial='' last_number=0 free_workers=0
# How long the next message is waited for: now; right after a job was taken; while output may grow quickly.
patience=5 patience_taken=.01 patience_growing=.2
[ "${BASH_VERSINFO[0]}" -ge 4 ] || patience_taken=1 patience_growing=1
# By number of the worker: its pid, and what it runs.
worker_pids=() job_names=() job_groups=() job_workers=() started_at=() worker_gone_at=()
output_sizes=() hole_ends=() emptied_bytes=()

# What the harness left open is not for commands.
for fd in /proc/self/fd/*; do
  fd=${fd##*/}
  case $fd in
    *[!0-9]* | 0 | 1 | 2) ;;
    *) eval "exec $fd>&-" ;;
  esac
done
exec 7<&0 </dev/null 9<"$jobs_dir"
trap '' PIPE
if [ -e /proc/self/fd ]; then
  exec 8<> <(:)
else
  fifo=$(mktemp -u) && mkfifo -m 600 "$fifo" && exec 8<>"$fifo" && rm -f "$fifo"
fi

# Each of these lines stands for the file: they are joined to one text when it is loaded (shell-file.ts).
source ./take-away.sh
source ./cut-output.sh
source ./lease-timer.sh
source ./worker.sh

# Waits for the end of the harness, and stands in for a supervisor that was killed with it. It is looked after itself: killed alone, it would leave a supervisor that never ends.
wait_for_harness() {
  {
    read -r _ <&7
    echo $quit >&8
    stand_in
  } >/dev/null &
  harness_waiter=$!
}

add_worker() {
  last_number=$((last_number + 1)) free_workers=$((free_workers + 1))
  [ -p "$jobs_dir/.go$tag.$last_number" ] || mkfifo "$jobs_dir/.go$tag.$last_number"
  [ -p "$jobs_dir/.end$tag.$last_number" ] || mkfifo "$jobs_dir/.end$tag.$last_number"
  exec 6<>"$jobs_dir/.go$tag.$last_number"
  worker "$last_number" "$@" 2>/dev/null &
  exec 6<&-
  worker_pids[last_number]=$!
}

# forget_job NUMBER
forget_job() {
  unset "job_names[$1]" "job_groups[$1]" "job_workers[$1]" "started_at[$1]" "worker_gone_at[$1]"
  unset "output_sizes[$1]" "hole_ends[$1]" "emptied_bytes[$1]"
}

# dismiss_workers: whoever cannot be told through its pipe is ended.
dismiss_workers() {
  local number pipe
  dismissed=1
  for number in "${!worker_pids[@]}"; do
    pipe=$jobs_dir/.go$tag.$number
    if [ -p "$pipe" ] && echo 2>/dev/null 1<>"$pipe"; then
      :
    else
      kill "${worker_pids[number]}" 2>/dev/null
    fi
  done
}

# end_overdue NUMBER JOB_DIR: first kindly, at the next look by force.
end_overdue() {
  if [ -s "$2/exit" ] || [ -L "$2/exit" ]; then
    kill -9 -- "-${job_groups[$1]}" 2>/dev/null
  else
    { echo timeout >"$2/exit"; } 2>/dev/null || ln -sfn timeout "$2/exit"
    kill -TERM -- "-${job_groups[$1]}"
  fi
}

# watch_job NUMBER: its worker, its time, its output.
watch_job() {
  local number=$1 dir=$jobs_dir/${job_names[$1]} seconds=$((SECONDS - started_at[$1])) size=0 exit_told
  [ "$patience" != 5 ] || patience=1
  if ! kill -0 "${job_workers[number]}" 2>/dev/null; then
    # It may have left its last word in the pipe: only two seconds later is it taken for killed.
    : "${worker_gone_at[number]:=$SECONDS}"
    [ $((SECONDS - worker_gone_at[number])) -ge 2 ] || return
    kill -0 "${job_groups[number]}" 2>/dev/null && return
    write_exit 137 "$dir"
    echo "ended ${job_names[number]} $exit_told"
    forget_job "$number"
    return
  fi
  if [ "$seconds" -ge "$time_limit" ]; then
    end_overdue "$number" "$dir"
    return
  fi
  end_with_lease "$number" "$dir" && return
  [ ! -e "$dir/out" ] || size=$(wc -c <"$dir/out")
  [ "$seconds" -ge 5 ] && [ $((size - output_sizes[number])) -lt $((output_limit / 16)) ] || patience=$patience_growing
  output_sizes[number]=$size
  # Shorter than its hole: the command emptied it itself.
  [ "$size" -ge "${hole_ends[number]}" ] || hole_ends[number]=0
  [ $((size - hole_ends[number])) -le "$output_limit" ] || shorten_output "$number" "$dir" "$size"
}

# take_away_in_background NUMBER…: of commands that nobody waits for. What is made again and again ends all of them.
take_away_in_background() {
  local number
  if [ $# = 0 ]; then
    remade=0
  elif take_away "${job_names[$1]}"; then
    remade=$((remade + 1))
    [ "$remade" -lt "$most_remade" ] || for number in "$@"; do
      echo remade >|"$jobs_dir/${job_names[number]}/killed"
      kill -9 -- "-${job_groups[number]}"
    done
  fi
}

# watch: about every second while something runs.
watch() {
  local number in_background=() deadline_ms=1000
  patience=5 looked_at=$SECONDS
  [ ${#job_names[@]} = 0 ] || [ ! -e "$jobs_dir/.absent$tag" ] || echo >|"$jobs_dir/.beat$tag"
  if [ $accepting = 1 ]; then
    kill -0 "$harness_waiter" 2>/dev/null || wait_for_harness
  else
    for number in "${!worker_pids[@]}"; do
      kill -0 "${worker_pids[number]}" 2>/dev/null || unset "worker_pids[number]"
    done
  fi
  for number in "${!job_names[@]}"; do
    [ $accepting = 1 ] && [ ! -e "$jobs_dir/${job_names[number]}/behind" ] || in_background+=("$number")
    watch_job "$number"
  done
  take_away_in_background "${in_background[@]}"
  look_in_time
}

# receive MESSAGE
receive() {
  local fields number
  case $1 in
    "$taken "*)
      set -f
      # shellcheck disable=SC2206 # split into words
      fields=($1)
      set +f
      number=${fields[3]}
      job_workers[number]=${fields[1]} job_groups[number]=${fields[2]} job_names[number]=${fields[4]}
      started_at[number]=$SECONDS output_sizes[number]=0 hole_ends[number]=0 emptied_bytes[number]=0
      free_workers=$((free_workers - 1)) patience=$patience_taken
      ;;
    "$ended "*)
      forget_job "${1#"$ended "}"
      free_workers=$((free_workers + 1))
      ;;
    "$left "*)
      number=${1#"$left "}
      unset "worker_pids[number]"
      [ -n "${job_names[number]-}" ] || free_workers=$((free_workers - 1))
      forget_job "$number"
      ;;
    "$quit") accepting=0 ;;
  esac
}

pipes=("$jobs_dir/.done$tag")
for ((number = 1; number <= steady_workers; number++)); do
  pipes+=("$jobs_dir/.go$tag.$number" "$jobs_dir/.end$tag.$number")
done
mkfifo "${pipes[@]}"
exec 3<>"$jobs_dir/.done$tag"
wait_for_harness
while [ "$last_number" -lt "$steady_workers" ]; do add_worker "$@"; done

while [ $accepting = 1 ] || [ ${#job_names[@]} -gt 0 ] || [ ${#worker_pids[@]} -gt 0 ]; do
  [ $accepting = 1 ] || [ ${#job_names[@]} -gt 0 ] || [ $dismissed = 1 ] || dismiss_workers
  message=
  if IFS= read -r -t "$patience" -u 8 message; then
    message=$partial$message partial=
    receive "$message"
    [ $SECONDS = $looked_at ] || watch
  else
    partial=$partial$message
    if [ $accepting = 1 ] && [ $free_workers -lt 1 ]; then
      add_worker "$@"
      patience=$patience_growing
    else
      watch
    fi
  fi
done
rm -f "$jobs_dir/.go$tag."* "$jobs_dir/.end$tag."* "$jobs_dir/.err$tag."* \
  "$jobs_dir/.done$tag" "$jobs_dir/.absent$tag" "$jobs_dir/.spared$tag" "$jobs_dir/.beat$tag"
