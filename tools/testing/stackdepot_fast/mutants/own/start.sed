# A record is listed as soon as it is written, although its room may be given back.
# plain/unit *raced_insert_is_not_listed
/^	depot_fill(space\.rec, /a\	depot_mark_start(\&space);
/^	if (.*ref != space\.ref.*{$/a\		clear_bit(space.ref \& DEPOT_UNIT_MASK, space.pool->starts);
