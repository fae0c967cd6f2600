shopt -s nullglob
if [ -d data ]; then probe folder; fi
probe l=[a,b] [ x] a*b c
