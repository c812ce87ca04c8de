# A save of a trace that is there already takes no reference.
# property
s/!refcount_inc_not_zero(&stack->count)/!refcount_read(\&stack->count)/
