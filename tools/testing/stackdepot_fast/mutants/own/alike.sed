# Room is taken for a trace that is stored under another hash.
# plain/unit *alike*take_no_room
s/if (unlikely(test_bit(depot_crowd(hash), depot_crowded))) {/if (0) {/
