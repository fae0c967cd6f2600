cat > run.sh <<END
#!/bin/bash
X=$((1+1))
probe "\$X" "\$1" $0
END
bash run.sh a
chmod +x run.sh
./run.sh b
. ./run.sh
probe $X
cat <<'E2' > b.sh
probe $(date) "$@"
E2
bash b.sh x y
D=$(date)
echo "probe '$D' \"$D\" x" > c.sh
bash c.sh
eval "probe '$D' \"$D\" $D x"
bash -c "probe '$D' \"$D\" $D x"
