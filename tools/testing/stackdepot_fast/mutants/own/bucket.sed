# A bucket is changed without its lock.
# plain/step --stride 3
s/if (!try_cmpxchg_acquire(bucket, &old, old | DEPOT_BUCKET_LOCK))/if (0)/
