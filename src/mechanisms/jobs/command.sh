# shellcheck shell=bash
# A command's own shell. It is started ahead of need and waits for its job, so that a command does not wait for a shell to start.
# What it says to its worker (6) and to the supervisor (8) is in the table of supervisor.sh: t taken, l lost, i idle, q quit.
#
# Arguments: the directory of all jobs as this shell sees it; its worker, and itself, each a pid with its line of /proc; what it says
# of itself to the supervisor; the supervisor's tag; the rights that are kept from new files (umask).
#
# Nothing of this is left when the command runs (so every name here begins with hf_ and is unset), but for two descriptors:
#   17  held open by this shell alone: who reads at the other end (.end) learns that it is gone
#   18  the file `cwd`: at its end the shell writes there where it is, then what it ended with
# These are numbers that scripts do not use, below any limit. Both are closed while the command runs: bash copies them to numbers of
# its own, the lowest free ones from 10, and closes those in every program. 10 to 16, where scripts have theirs, are taken until then:
# so 17 is kept as 19, and 18 as the 17 that became free. Where a limit leaves no room for 19 and 20, neither is opened.
#
# This file is loaded as one line (shell-file.ts): the lines of the command count from 1.
exec 10</dev/null 11</dev/null 12</dev/null 13</dev/null 14</dev/null 15</dev/null 16</dev/null \
  17</dev/null 18</dev/null 19</dev/null 20</dev/null &&
  hf_closing='17>&- 18>&-'
exec 19<&- 20<&-

hf_jobs_dir=$1 hf_worker=$2 hf_self=$3 hf_announcement=$4 hf_tag=$5 hf_umask=$6

# The job: its name, and where to run. Only for the first letter there is a limit: it costs two system calls for each.
IFS= read -r -n 1 -t 600 hf_job <&6 || { echo i >&6; exit; }
[ -n "$hf_job" ] || { echo q >&6; exit; }
{ IFS= read -r hf_rest; IFS= read -r hf_cwd; } <&6
hf_job=$hf_job$hf_rest
hf_dir=$hf_jobs_dir/$hf_job

# Its first act is to create `started`, exclusively: who loses does nothing.
set -C
{ printf '%s\n' "$hf_worker" "$hf_self" "$hf_tag" >"$hf_dir/started"; } 2>/dev/null || { echo "l $hf_job" >&6; exit; }
echo "t $hf_job" >&6
echo "t $hf_announcement $hf_job" >&8
set +C

# The command is what comes after the first line of `job`.
{ IFS= read -r; IFS= read -rd "" REPLY; } <"$hf_dir/job"
exec >>"$hf_dir/out" 2>&1
[ -z "$hf_closing" ] || exec 18>"$hf_dir/cwd" 17<&5
exec 3>&- 5<&- 6<&- 8>&- 9<&-
umask "$hf_umask"
set --
cd -P "$hf_cwd" || exit 1

# At its end it says where it is; a shell that came to the end of the text below has said so, and says what it ended with. One that
# is killed, calls `exit` or has a trap of its own does not know that, and its worker says it. Who calls `exit` in the braces below has
# not got descriptor 18 back: it is still kept as 17. Builtins are called by that name: the command may have functions of theirs.
# shellcheck disable=SC2016,SC2154 # expanded when the shell ends, where hf_code is known
trap '{
  builtin set +x
  { [ -n "$hf_came_to_end" ] && builtin echo "=$hf_code" || builtin pwd -P; } >&18 ||
  { [ -n "$hf_came_to_end" ] && builtin echo "=$hf_code" || builtin pwd -P; } >&17
} 2>&-' EXIT

# The text is put together first, because after `unset` there is no name left to take the redirections from.
# shellcheck disable=SC2016 # expanded in the text
eval 'unset hf_closing hf_jobs_dir hf_worker hf_self hf_announcement hf_tag hf_umask hf_job hf_rest hf_cwd hf_dir
  unset hf_code hf_came_to_end OLDPWD
  {
    exec 10<&- 11<&- 12<&- 13<&- 14<&- 15<&- 16<&-
    eval "$REPLY"
  } '"$hf_closing"'
  {
    hf_code=$?
    builtin trap - DEBUG ERR
    builtin set +ex
    builtin trap "" PIPE
    builtin pwd -P >&18 && hf_came_to_end=1
  } 2>&-
  builtin exit $hf_code'
