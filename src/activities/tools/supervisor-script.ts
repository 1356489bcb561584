// The supervisor's program, for /bin/sh. It reads `add ID PID` and `remove ID` lines from the worker.
// When the worker is gone, however it ended, the pipe reads end-of-file: then everything the remaining
// commands started is stopped (so that it cannot fork away) and killed. See `process-tree.ts` for which
// processes belong to a command; here the same rule is applied without the worker.

export const supervisorScript = String.raw`
trap '' HUP INT TERM
calls=''
while read -r verb id pid; do
  keep=''
  for call in $calls; do
    case $call in "$id":*) ;; *) keep="$keep $call" ;; esac
  done
  case $verb in
    add) calls="$keep $id:$pid" ;;
    remove) calls=$keep ;;
  esac
done
[ -n "$calls" ] || exit 0

# Lines of "pid parent group session state".
snapshot() {
  if [ -r /proc/self/stat ]; then
    for file in /proc/[0-9]*/stat; do
      { read -r line < "$file"; } 2>/dev/null || continue
      pid=${'$'}{file#/proc/}
      pid=${'$'}{pid%/stat}
      set -- ${'$'}{line##*) }
      echo "$pid $2 $3 $4 $1"
    done
  else
    ps -axo pid=,ppid=,pgid=,stat= | while read -r pid parent group state; do
      echo "$pid $parent $group 0 $state"
    done
  fi
}

# Ids of processes that carry a command's mark.
marked() {
  for call in $calls; do
    id=${'$'}{call%%:*}
    if [ -r /proc/self/stat ]; then
      grep -l -s -F "$id" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
    else
      ps -axEww -o pid=,command= | grep -F "$id" | while read -r pid _; do echo "$pid"; done
    fi
  done
}

# Sets members to the ids of all live processes of the remaining commands.
find_members() {
  members=' '
  for call in $calls; do members="$members${'$'}{call##*:} "; done
  roots=$members
  for pid in $(marked); do members="$members$pid "; done
  lines=$(snapshot)
  alive=' '
  grown=yes
  while [ -n "$grown" ]; do
    grown=''
    while read -r pid parent group session state; do
      [ "$pid" = "$$" ] && continue
      case $state in Z*|X*) continue ;; esac
      case $alive in *" $pid "*) continue ;; esac
      belongs=''
      case $members in *" $pid "*|*" $parent "*) belongs=yes ;; esac
      case $roots in *" $group "*|*" $session "*) belongs=yes ;; esac
      if [ -n "$belongs" ]; then
        members="$members$pid "
        alive="$alive$pid "
        grown=yes
      fi
    done <<LINES
$lines
LINES
  done
}

round=0
while [ "$round" -lt 100 ]; do
  stopped=' '
  step=0
  while [ "$step" -lt 20 ]; do
    find_members
    fresh=''
    for pid in $alive; do
      case $stopped in *" $pid "*) ;; *) fresh="$fresh $pid"; stopped="$stopped$pid " ;; esac
    done
    [ -n "$fresh" ] || break
    kill -STOP $fresh 2>/dev/null
    step=$((step + 1))
  done
  [ "$alive" != ' ' ] || exit 0
  kill -KILL $alive 2>/dev/null
  sleep 0.1
  round=$((round + 1))
done
`;
