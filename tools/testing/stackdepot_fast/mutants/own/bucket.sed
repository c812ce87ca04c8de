# A bucket is changed without its lock.
# plain/stress --race --seconds 60
s/if (!try_cmpxchg_acquire(bucket, &old, old | DEPOT_BUCKET_LOCK))/if (0)/
