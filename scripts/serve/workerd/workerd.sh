#!/bin/sh
# The command line of workerd, with the signals of a terminal ignored, which outlives exec. Ctrl-C reaches the whole process group, and
# the runner still needs its runtime then: watches have to end properly before it goes.
# A file that may not grow (ulimit -f) is an error of that write, as a full disk is, not the end of the runtime.
trap '' INT HUP XFSZ
exec "$@"
