mkdir; probe $?
mkdir data; probe $?
mkdir a/b/c; probe $?
mkdir -p a/b/c; probe $?
mkdir -m 755 q; probe $? */
mkdir -pv r/s; probe r/*
touch nofolder/x; probe $?
touch -c zz; probe z*
echo hi | tee t1 t2; probe t* "$(cat t1)"
echo more | tee -a t1; probe "$(cat t1)"
