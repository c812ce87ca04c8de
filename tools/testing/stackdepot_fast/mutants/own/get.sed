# Who finds an evictable trace takes no reference to it.
# plain/unit *put_frees_with_the_last_reference
s/if (ref && !depot_get(depot_record(ref)))/if (0)/
