# Removes the folder of a lockscope that was killed. stdin is the same pipe that the servers' watchers read.
#
# The servers die in the same moment, and one that is still alive may write a file into the folder while it is being
# removed: so it is tried again, at first at once, then with time between.
trap '' INT TERM HUP
read -r _
for pause in 0 0 0 1 1 2 4; do
  rm -rf -- "$1" 2>/dev/null
  [ -e "$1" ] || exit 0
  sleep "$pause"
done
