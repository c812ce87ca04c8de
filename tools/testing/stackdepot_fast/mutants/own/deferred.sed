# A warning at the limit goes to the console at once.
# plain/unit *limit_warns_deferred
/printk_deferred_\(enter\|exit\)();/d
