# Two threads that save the same new trace at once store it twice.
# stress
/Try to find again/,/find_stack/s/found = find_stack(.*);/found = NULL;/
