x=$(probe run) > missing/out; probe "s$? [$x]"; X=$(probe run2) > missing/out env; probe $?; x=5 > missing/o; probe "$x" "${X-un}"
