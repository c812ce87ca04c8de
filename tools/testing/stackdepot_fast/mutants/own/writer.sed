# A pool is evicted while a record is written to it.
# plain/step --evict --stride 7
s/state = READ_ONCE(pool->state) & ~DEPOT_STATE_WRITERS;/state = READ_ONCE(pool->state);/
