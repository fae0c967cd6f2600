trap "probe t" EXIT; (exec true); probe a; exec env probe b
