# An evicted pool is used again at once, whoever reads it.
# plain/unit *evicted_pools_wait_for_readers
s/if (!pool || !poll_state_synchronize_rcu(pool->cookie))/if (!pool)/
