# shellcheck shell=bash
# Part of the supervisor: what a command made and may not is moved out of the project, to taken/JOB beside the directory of all jobs.
#
# forbidden_paths must not come to be; a person may let something else make one: then it is listed in .spared. links are triples
# (path, target as written, what it leads to): a link that was replaced is put back.

# move_away PATH JOB; what was made again goes to a numbered folder; what cannot be kept is removed all the same.
move_away() {
  [ -e "$1" ] || [ -L "$1" ] || return
  local to=$jobs_dir/../taken/$2 count=2
  while [ -e "$to/${1##*/}" ] || [ -L "$to/${1##*/}" ]; do
    to=$jobs_dir/../taken/$2/$count count=$((count + 1))
  done
  mkdir -p "$to"
  mv "$1" "$to/" && return
  [ -L "$1" ] || chmod -R u+rwX "$1"
  rm -rf "$1"
}

# take_away JOB; succeeds when there was something.
take_away() {
  local path allowed index nothing=1 spared=()
  for path in "${forbidden_paths[@]}"; do
    [ -e "$path" ] || [ -L "$path" ] || continue
    [ ! -e "$jobs_dir/.spared$tag" ] || mapfile -t spared <"$jobs_dir/.spared$tag"
    for allowed in "${spared[@]}"; do
      [ "$allowed" != "$path" ] || continue 2
    done
    nothing=0
    move_away "$path" "$1"
  done
  for ((index = 0; index < ${#links[@]}; index += 3)); do
    path=${links[index]}
    [ "$path" -ef "${links[index + 2]}" ] && [ "$path" != "${links[index + 2]}" ] && continue
    [ -L "$path" ] && [ "$(readlink "$path")" = "${links[index + 1]}" ] && continue
    nothing=0
    move_away "$path" "$1"
    ln -s "${links[index + 1]}" "$path"
  done
  return $nothing
}
