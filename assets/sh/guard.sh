# Becomes the server, and leaves a watcher in the server's process group.
#
# stdin is the read end of a pipe whose only write end belongs to lockscope. Nobody ever writes to it: the read ends when
# lockscope is gone, in whatever way it went, and then the watcher kills the server. The watcher ignores what a terminal
# sends to a whole job, so that ctrl-c cannot end it before its work is done.
#
# The pipe moves to descriptor 3 because a background job of sh gets /dev/null as its stdin. The server itself does not
# get the pipe.
exec 3<&0
(
  trap '' INT TERM HUP
  read -r _ <&3
  kill -9 $$
) >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-
