[[ a != *[ ,]* ]]
probe after
