# What came before an interrupt is kept.
# property
s/nr_entries = filter_irq_stacks(entries, nr_entries);/;/
