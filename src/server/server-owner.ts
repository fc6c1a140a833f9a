// The owner of what belongs to the server and not to any of its users: keys, open runs, live servers. No key can be
// created for it: the colon is not allowed in the owner of a key.

export const serverOwner = 'synapse:server'
