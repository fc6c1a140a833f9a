// Whether an address is on the public internet. Everything else (this machine, its networks, cloud metadata services,
// and the ways to write an IPv4 address as an IPv6 one) is not available to a model.

import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** From https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast (checked 2026-11). */
const special4 = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  special4.addSubnet(network, bits, 'ipv4')

/** Of global unicast, what is not public: protocols, Teredo, documentation, 6to4. */
const special6 = new BlockList()
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special6.addSubnet(network, bits, 'ipv6')

const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special4.check(address, 'ipv4')
  // Mapped and translated IPv4 addresses are outside of global unicast, in every notation.
  return isIPv6(address) && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
}
