coproc NAME { probe inner; }
probe "$?"
wait
coproc probe simple
wait
coproc a-b { echo; }
probe $?
coproc X=1 true; wait; probe end
