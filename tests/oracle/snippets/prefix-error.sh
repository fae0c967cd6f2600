p=x
R=alpha R=${p:1:-1} probe one
probe "${R-unset}"
