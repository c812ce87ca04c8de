# The outermost frame of a trace is not stored.
# property
s/memcpy(stack->entries, entries, flex_array_size(stack, entries, nr_entries));/memcpy(stack->entries, entries, flex_array_size(stack, entries, nr_entries - 1));/
