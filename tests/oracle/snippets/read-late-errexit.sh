set -e
x=`(`
probe z
