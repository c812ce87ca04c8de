# The statistics forget that a record is no longer in use.
# property
s/counters\[DEPOT_COUNTER_REFD_INUSE\]--;/;/
