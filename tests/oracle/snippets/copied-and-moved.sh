cp a.txt copied.txt
probe *.txt
probe data/*
cp a.txt data
probe data/*
for f in data/*.txt; do probe "$f"; done
cp -r data data2; probe data2/* "$(cat data2/a.txt)"
mv data2 moved; probe */ moved/*
rm -rf data; probe */ data/*
[ -d data ] && probe still
[ -f moved/a.txt ] && probe there
rm a.txt; [ -f a.txt ] || probe gone
mkdir -p data; probe data/* */
ln -s moved/a.txt link; probe l* "$(cat link)"
cp sub/echo.sh e.sh; bash e.sh 1
cp nothing here; probe h*
mkdir bin; mv b.txt bin/; probe bin/*
cp -t bin e.sh; probe bin/*
rm -f bin/*.txt; probe bin/*
