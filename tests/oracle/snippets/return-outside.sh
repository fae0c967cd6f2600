return 3; probe "s$?"; (return 4); probe "s$?"; x=$(return 5); probe "s$?"; eval "return 6"; probe "s$?"; f() { (return 7); probe "i$?"; x=$(return 8; echo no); probe "i$? $x"; return; }; f
echo 'probe sourced; return 5; probe no' > s.sh
source s.sh
probe $?
