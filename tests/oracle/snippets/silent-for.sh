probe one
for ((a=0;a<1;a++) ) ; do probe in; done
probe after
