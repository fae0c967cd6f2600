probe one > "data/$nothing"
probe $?
probe x > data
probe $?
echo x >> data/train.txt
cat data/train.txt
