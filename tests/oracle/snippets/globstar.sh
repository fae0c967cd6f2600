shopt -s globstar dotglob
probe **/*.txt data/* **
