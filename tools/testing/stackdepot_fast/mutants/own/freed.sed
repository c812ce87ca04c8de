# The memory of a freed record is used again at once, whoever reads it.
# plain/unit *freed_memory_waits_for_readers
s/if (!poll_state_synchronize_rcu(\*depot_cookie(rec)))/if (0)/
