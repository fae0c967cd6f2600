while getopts 'ab:' each -a --value=y -ab3 -b2; do probe "$each" "${OPTARG-}"; done
