probe "${x:-<(}"
