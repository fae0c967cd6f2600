false
[[ a b ]]
probe x
