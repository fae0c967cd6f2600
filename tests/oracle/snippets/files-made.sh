touch made.txt
probe *.txt
mkdir -p new/folder
probe new/* */
echo one > new/one
probe new/* new/*/
> new/two
probe new/t* < new/two
