declare -i e; e=(1+1 2+2); declare +i e; e[0]=1+1; probe ${e[0]}; declare -x E=3; probe; declare +x E; probe
