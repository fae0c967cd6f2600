M=q; k4() { declare -g M=gg; probe $M; }; M=c k4; probe $M; k5() { unset M; probe ${M-un}; M=n; }; M=c k5; probe $M; k6() { local M=1; k7; probe $M; }; k7() { unset M; M=2; probe M; }; k6; probe "$M"; k8() { readonly RR=5; }; RR=4 k8; probe $RR
M=8; M=1 unset M; probe "${M-un}"
