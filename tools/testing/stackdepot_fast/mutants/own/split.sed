# A bucket that is split loses the first record that goes to the new one.
# plain/unit *handles_outlive_growth
s/WRITE_ONCE(\*to, heads\[1\]);/WRITE_ONCE(*to, heads[1] ? depot_record(heads[1])->next \& DEPOT_REF_MASK : 0);/
