shopt -s nocaseglob
probe D*/T*
shopt -s failglob
probe zzz*
probe $?
