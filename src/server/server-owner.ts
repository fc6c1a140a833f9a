// The owner of what belongs to the server and not to any of its users: keys, runs that are open, servers that live. No
// key can be made for it: the colon is not allowed in the owner of a key.

export const serverOwner = 'synapse:server'
