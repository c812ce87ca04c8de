# A record can be found before it is written.
# stress
s/list_add_rcu(&new->hash_list, bucket);/list_add(\&new->hash_list, bucket);/
