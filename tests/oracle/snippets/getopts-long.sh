while getopts 'ab:' each -b 1 --long --long; do probe "$each" "${OPTARG-}"; done
probe end
