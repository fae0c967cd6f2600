# A reference to something that is no name drops the line.
ref="a b"
probe "${!ref}"
ref=other
probe "${!ref:-none}"
(probe "${!nothing}"; probe not reached)
probe $?
probe "${1:=x}"; probe not reached
probe $?
