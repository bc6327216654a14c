// Owns what the shells run: the supervisor with its workers, and the shell around each command.

/** Where the command's shell says at its end where it is, and what it ended with: a number that scripts do not use, below any limit. */
const MOVED = 18;
/** Held open by the command's shell alone: who reads there learns that it is gone. */
const HELD = 17;
/** Where scripts keep theirs, and the shell would keep these while the command runs: taken until then. The first that it keeps comes after both, the other where that was. */
const TAKEN = Array.from({ length: HELD - 10 }, (_, i) => i + 10);
const KEPT = HELD;
const each = (numbers: number[], how: string): string => numbers.map((n) => `${n}${how}`).join(" ");
/**
 * Names are as the command left them: a function may be called `pwd`. Whoever calls `exit` in a function has not got the descriptor
 * back. Only a shell that came to its own end knows what it ends with: of one that is killed the trap does not.
 */
const SAY = `{ [ -n "$hf_m" ] && builtin echo "=$hf_c" || builtin pwd -P; }`;
const AT_EXIT = `{ builtin set +x; ${SAY} >&${MOVED} || ${SAY} >&${KEPT}; } 2>&-`;

/**
 * What a command's own shell does. It is started ahead of need and waits for its job (its directory's name, where to run), so that
 * a command does not wait for a shell to start. Its first act is to create `started`, exclusively: who loses does nothing.
 * Its arguments: the directory of all jobs as it sees it; its worker and itself, each a pid with its line of /proc; what it says
 * of itself; its supervisor's tag; the rights that are kept from new files. An empty name, or ten minutes without one, and it goes.
 * Nothing of this is left when the command runs, but for the descriptor on which its shell says where it is, and the one that tells
 * that it is gone. Both are closed while the command runs: the shell keeps them to itself, and closes them in every program. Where a
 * limit leaves no number to keep them under, they are not opened. What the shell ended with is its last word; a command that calls
 * `exit`, is killed or sets a trap of its own has it say only where it is, and its worker says the rest.
 */
export const COMMAND = [
  `exec ${each([...TAKEN, HELD, MOVED, MOVED + 1, MOVED + 2], "</dev/null")} && hf_k='${HELD}>&- ${MOVED}>&-'; exec ${each([MOVED + 1, MOVED + 2], "<&-")}`,
  "IFS= read -r -n 1 -t 600 hf_d <&6 || { echo i >&6; exit; }", // a limit costs two calls of the system for each letter
  '[ -n "$hf_d" ] || { echo q >&6; exit; }; { IFS= read -r hf_b; IFS= read -r hf_c; } <&6; hf_d=$hf_d$hf_b',
  "hf_b=$1/$hf_d; set -C",
  `{ printf '%s\\n' "$2" "$3" "$5" >"$hf_b/started"; } 2>/dev/null || { echo "l $hf_d" >&6; exit; }`,
  'echo "t $hf_d" >&6; echo "t $4 $hf_d" >&8; set +C',
  `{ IFS= read -r; IFS= read -rd "" REPLY; } <"$hf_b/job"`,
  'exec >>"$hf_b/out" 2>&1',
  `[ -z "$hf_k" ] || exec ${MOVED}>"$hf_b/cwd" ${HELD}<&5; exec 3>&- 5<&- 6<&- 8>&- 9<&-`,
  'umask "$6"; set --; cd -P "$hf_c" || exit 1',
  `trap '${AT_EXIT}' EXIT`,
  `eval "unset hf_b hf_c hf_d hf_k hf_m OLDPWD; { exec ${each(TAKEN, "<&-")}; eval \\"\\$REPLY\\"; } $hf_k; { hf_c=\\$?; builtin trap - DEBUG ERR; builtin set +ex; builtin trap '' PIPE; builtin pwd -P >&${MOVED} && hf_m=1; } 2>&-; builtin exit \\$hf_c"`,
].join("; "); // on one line: the lines of the command count from 1

/**
 * One shell a harness supervises its commands: forking the harness itself costs more with every megabyte it holds. Its workers each
 * keep one shell ready for the next command; `set -m` gives every command a process group of its own, and spares it the SIGINT that a
 * shell makes background commands ignore. When the command has ended its worker writes `exit`, kills what is left of the group
 * (`cmd &` dies with the call), says so, and makes the next shell ready. The supervisor watches the hard limit and the bound on
 * output, adds a worker that serves once when all others have been busy for a moment, and stays until the last command has ended.
 *
 * `--norc`, because a bash whose input is a socket takes itself for a remote login and reads the user's files.
 * A supervisor stays until its last worker has gone: one may just have been handed a job.
 * A worker that has said that it is there serves once before it looks whether the supervisor is: it may have been handed a job since.
 * The line that tells a worker to go may come before the word of the shell that just took a job: it is kept for later.
 * A worker that is gone may have left its last word in the pipe: only two seconds later is it taken for killed.
 * The search path is the user's, and may begin with what a command could write: the programs used here are looked for in the system first.
 * Descriptors: 3 open as long as any of them lives, 5 held by a command's shell alone, 6 a worker's own pipe, 7 ends with the harness, 8 messages to the supervisor, 9 the directory of all jobs.
 * Messages: `t WORKER PID NUMBER NAME` taken, `e NUMBER` ended, `x NUMBER` worker gone, `q` no more jobs. A signal or the clock may end
 * a `read` in the middle of one: what it had is kept.
 * The harness is told: `r NUMBER` a worker is there, `CODE NAME [NUMBER]` ended (and the worker is free again), where `?` for a code
 * means look, and `?CODE` that it could not be written; `! NUMBER` its shell could not be started.
 * A full disk takes no more text, but a link's short target still: an `exit` that is a link says with it what could not be written.
 * What must not be there is taken away when a command has ended; while one runs in the background, or after the harness, about every
 * second; made again and again, whatever runs so is ended. `.beat` says when any of them was last seen alive.
 * Long output loses its middle where it lies: a hole is made between its first bytes and its last, so that nothing moves, nobody is
 * stopped, and whoever is killed or reads meanwhile finds both ends. The link `cut` says so first: a link is there whole or not at all,
 * also on a full disk. Where no hole can be made (the file system, no program for it), head and tail are copied and `out` is emptied
 * while the command's group stands still; whoever left that group goes on, and what it writes in that moment is lost.
 * Who waits for the harness's end is looked after: killed alone, it would leave a supervisor that never ends.
 */
export const SUPERVISOR = `set -m -C
exec 2>/dev/null
path=$PATH PATH=/usr/bin:/bin:$PATH
limit=$1 bound=$2 keep=$3 stock=$4 most=$5 base=$6 inner=$7 run=$8 tag=$9
shift 9
n=$1
shift
absent=("\${@:1:n}")
shift $n
n=$1
shift
links=("\${@:1:n}")
shift $n
mask=$(umask)
umask 077
open=1 told=0 remade=0 looked=0 part= last=0 free=0 soon=.01 fast=.2 quick=5 hired=() names=() groups=() workers=() begun=() sizes=() holes=() lost=() gone=()
[ "\${BASH_VERSINFO[0]}" -ge 4 ] || soon=1 fast=1
for f in /proc/self/fd/*; do
f=\${f##*/}
case $f in *[!0-9]*|0|1|2) ;; *) eval "exec $f>&-" ;; esac
done
exec 7<&0 </dev/null 9<"$base"
trap '' PIPE
if [ -e /proc/self/fd ]; then exec 8<> <(:)
else f=$(mktemp -u) && mkfifo -m 600 "$f" && exec 8<>"$f" && rm -f "$f"
fi
full() {
if [ -s "$2" ] || [ -L "$2" ]; then c='?'
else c="?$1"; ln -sfn $1 "$2"
fi
}
away() {
[ -e "$1" ] || [ -L "$1" ] || return
local d=$base/../taken/$2 k=2
while [ -e "$d/\${1##*/}" ] || [ -L "$d/\${1##*/}" ]; do d=$base/../taken/$2/$k k=$((k+1)); done
mkdir -p "$d"
mv "$1" "$d/" && return
[ -L "$1" ] || chmod -R u+rwX "$1"
rm -rf "$1"
}
take() {
local f k none=1 spared=()
for f in "\${absent[@]}"; do
[ -e "$f" ] || [ -L "$f" ] || continue
[ ! -e "$base/.spared$tag" ] || mapfile -t spared <"$base/.spared$tag"
for k in "\${spared[@]}"; do [ "$k" != "$f" ] || continue 2; done
none=0
away "$f" $1
done
for ((k=0; k<\${#links[@]}; k+=3)); do
f=\${links[k]}
[ "$f" -ef "\${links[k+2]}" ] && [ "$f" != "\${links[k+2]}" ] && continue
[ -L "$f" ] && [ "$(readlink "$f")" = "\${links[k+1]}" ] && continue
none=0
away "$f" $1
ln -s "\${links[k+1]}" "$f"
done
return $none
}
eye() {
{ read -r _ <&7; echo q >&8; } >/dev/null &
eye=$!
}
worker() {
local k=$1 s= w n c g p f quit
shift
exec 7<&-
set -m
{ read -r s </proc/self/stat; } 2>/dev/null
w=\${s%% *}
: \${w:=$(exec sh -c 'echo $PPID')}
p=
trap 'kill -9 -- -$p; exit' TERM
echo "r $k"
while :; do
(
trap - PIPE TERM
PATH=$path
g=
{ read -r g </proc/self/stat; } 2>/dev/null
p=\${g%% *}
: \${p:=$(exec sh -c 'echo $PPID')}
exec "$@" /bin/bash --norc -c "$run" bash "$inner" "$w $s" "$p $g" "$w $p $k" "$tag" $mask >/dev/null 2>|"$base/.err$tag.$k" 5<>"$base/.end$tag.$k"
) &
p=$!
wait $p
c=$?
n= quit=
while IFS= read -r -t 2 -u 6 n && [ -z "$n" ]; do quit=1; done
case $n in
t*) n=\${n#t }
take $n
{ echo $c >"$base/$n/exit"; } 2>/dev/null || full $c "$base/$n/exit"
kill -9 -- -$p 2>/dev/null
if [ $k -gt $stock ]; then
echo "$c $n"
break
fi
echo "$c $n $k"
echo "e $k" >&8 ;;
l*) echo "? \${n#l } $k" ;;
i) ;;
q) break ;;
*) echo "! $k"
sleep 1 ;;
esac
[ -z "$quit" ] && kill -0 $$ 2>/dev/null || break
done
[ $k -le $stock ] || rm -f "$base/.go$tag.$k" "$base/.end$tag.$k" "$base/.err$tag.$k"
echo "x $k" >&8
}
hire() {
last=$((last+1)) free=$((free+1))
[ -p "$base/.go$tag.$last" ] || mkfifo "$base/.go$tag.$last"
[ -p "$base/.end$tag.$last" ] || mkfifo "$base/.end$tag.$last"
exec 6<>"$base/.go$tag.$last"
worker $last "$@" 2>/dev/null &
exec 6<&-
hired[last]=$!
}
forget() { unset "names[$1]" "groups[$1]" "workers[$1]" "begun[$1]" "sizes[$1]" "holes[$1]" "lost[$1]" "gone[$1]"; }
say() { ln -sfn "$2" "$1/cut.new" && mv -f "$1/cut.new" "$1/cut"; }
punch() {
case $OSTYPE in
darwin*) perl -e 'open(F, "+<", $ARGV[0]) && fcntl(F, 99, pack("L2q2", 0, 0, @ARGV[1, 2])) or exit 1' "$1" $2 $3 ;;
*) fallocate -p -o $2 -l $3 "$1" ;;
esac
}
shorten() {
local i=$1 d=$2 z=$3 n b from=$(((keep+4095)/4096*4096)) to=$((($3-keep)/4096*4096))
[ $to -gt $from ] || return
if [ \${lost[i]} = 0 ]; then
[ -L "$d/cut" ] || say "$d" $keep || return
if punch "$d/out" $from $((to-from)); then
holes[i]=$to
return
fi
fi
kill -STOP -- -\${groups[i]}
for n in 1 2 3 4 5; do
b=$z
sleep .02
z=$(wc -c <"$d/out")
[ $z != $b ] || break
done
b=$((lost[i]+z))
{ [ -e "$d/out.head" ] || { head -c $keep "$d/out" >|"$d/out.head.new" && mv "$d/out.head.new" "$d/out.head"; }; } &&
tail -c $keep "$d/out" >|"$d/out.tail.$b" && say "$d" "$keep $b $z" && : >|"$d/out" && {
say "$d" "$keep $b 0"
rm -f "$d/out.tail.\${lost[i]}"
lost[i]=$b holes[i]=0 sizes[i]=0
}
kill -CONT -- -\${groups[i]}
}
watch() {
quick=5 looked=$SECONDS
local i d n z c behind=()
[ \${#names[@]} = 0 ] || [ ! -e "$base/.absent$tag" ] || echo >|"$base/.beat$tag"
if [ $open = 1 ]; then kill -0 $eye 2>/dev/null || eye
else for i in "\${!hired[@]}"; do kill -0 \${hired[i]} 2>/dev/null || unset "hired[i]"; done
fi
for i in "\${!names[@]}"; do
d=$base/\${names[i]} n=$((SECONDS-begun[i])) z=0
[ $quick != 5 ] || quick=1
[ $open = 1 ] && [ ! -e "$d/behind" ] || behind+=($i)
if ! kill -0 \${workers[i]} 2>/dev/null; then
: \${gone[i]:=$SECONDS}
[ $((SECONDS-gone[i])) -lt 2 ] || kill -0 \${groups[i]} 2>/dev/null || {
c=137
{ echo $c >"$d/exit"; } 2>/dev/null || full $c "$d/exit"
echo "$c \${names[i]}"
forget $i
}
continue
fi
if [ "$n" -ge "$limit" ]; then
if [ -s "$d/exit" ] || [ -L "$d/exit" ]; then kill -9 -- -\${groups[i]} 2>/dev/null
else
{ echo timeout >"$d/exit"; } 2>/dev/null || ln -sfn timeout "$d/exit"
kill -TERM -- -\${groups[i]}
fi
continue
fi
[ ! -e "$d/out" ] || z=$(wc -c <"$d/out")
[ "$n" -ge 5 ] && [ $((z-sizes[i])) -lt $((bound/16)) ] || quick=$fast
sizes[i]=$z
[ "$z" -ge "\${holes[i]}" ] || holes[i]=0
[ $((z-holes[i])) -le "$bound" ] || shorten $i "$d" $z
done
if [ \${#behind[@]} = 0 ]; then remade=0
elif take \${names[\${behind[0]}]}; then
remade=$((remade+1))
[ $remade -lt $most ] || for i in "\${behind[@]}"; do
echo remade >|"$base/\${names[i]}/killed"
kill -9 -- -\${groups[i]}
done
fi
}
bye() {
local k f
told=1
for k in "\${!hired[@]}"; do
f=$base/.go$tag.$k
if [ -p "$f" ] && echo 2>/dev/null 1<>"$f"; then :
else kill \${hired[k]} 2>/dev/null
fi
done
}
pipes=("$base/.done$tag")
for ((i=1; i<=stock; i++)); do
pipes+=("$base/.go$tag.$i" "$base/.end$tag.$i")
done
mkfifo "\${pipes[@]}"
exec 3<>"$base/.done$tag"
eye
while [ $last -lt $stock ]; do hire "$@"; done
while [ $open = 1 ] || [ \${#names[@]} -gt 0 ] || [ \${#hired[@]} -gt 0 ]; do
[ $open = 1 ] || [ \${#names[@]} -gt 0 ] || [ $told = 1 ] || bye
m=
if IFS= read -r -t $quick -u 8 m; then
m=$part$m part=
case $m in
t*) set -f
a=($m)
set +f
i=\${a[3]}
workers[i]=\${a[1]} groups[i]=\${a[2]} names[i]=\${a[4]} begun[i]=$SECONDS sizes[i]=0 holes[i]=0 lost[i]=0 free=$((free-1)) quick=$soon ;;
q) open=0 ;;
e*) forget \${m#e }
free=$((free+1)) ;;
x*) i=\${m#x }
unset "hired[i]"
[ -n "\${names[i]-}" ] || free=$((free-1))
forget $i ;;
esac
[ $SECONDS = $looked ] || watch
else
part=$part$m
if [ $open = 1 ] && [ $free -lt 1 ]; then
hire "$@"
quick=$fast
else watch
fi
fi
done
rm -f "$base"/.go$tag.* "$base"/.end$tag.* "$base"/.err$tag.* "$base/.done$tag" "$base/.absent$tag" "$base/.spared$tag" "$base/.beat$tag"`;
