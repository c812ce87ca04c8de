# The newest frame of a tail is taken for the same without a look at it.
# plain/unit *tails_of_the_same_hash
s/return depot_equal_narrow(oldest, oldest + last, 1, nr, rec, 0);/return depot_equal_narrow(oldest, oldest + last - 1, 1, nr - 1, rec, 0);/
s/return depot_equal_narrow(oldest, oldest - last, -1, nr, rec, 0);/return depot_equal_narrow(oldest, oldest - last + 1, -1, nr - 1, rec, 0);/
