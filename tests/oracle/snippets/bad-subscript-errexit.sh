set -e
a=(); probe "x${a[-1]:-d}y"; probe n2
