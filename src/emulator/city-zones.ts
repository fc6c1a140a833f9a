// The IANA time zone of a city. Most zones are named after one; the other cities here are those that people ask for
// most.

const others: Record<string, string> = {
  abudhabi: 'Asia/Dubai',
  bangalore: 'Asia/Kolkata',
  barcelona: 'Europe/Madrid',
  beijing: 'Asia/Shanghai',
  bern: 'Europe/Zurich',
  boston: 'America/New_York',
  capetown: 'Africa/Johannesburg',
  delhi: 'Asia/Kolkata',
  frankfurt: 'Europe/Berlin',
  geneva: 'Europe/Zurich',
  hamburg: 'Europe/Berlin',
  hanoi: 'Asia/Bangkok',
  houston: 'America/Chicago',
  kolkata: 'Asia/Kolkata',
  kyiv: 'Europe/Kyiv',
  kyoto: 'Asia/Tokyo',
  lyon: 'Europe/Paris',
  miami: 'America/New_York',
  milan: 'Europe/Rome',
  montreal: 'America/Toronto',
  mumbai: 'Asia/Kolkata',
  munich: 'Europe/Berlin',
  newdelhi: 'Asia/Kolkata',
  osaka: 'Asia/Tokyo',
  philadelphia: 'America/New_York',
  rio: 'America/Sao_Paulo',
  riodejaneiro: 'America/Sao_Paulo',
  sanfrancisco: 'America/Los_Angeles',
  seattle: 'America/Los_Angeles',
  telaviv: 'Asia/Jerusalem',
  washington: 'America/New_York',
  wellington: 'Pacific/Auckland',
}

let known: Map<string, string> | undefined

/** The zone of a city, or the zone itself; undefined for a place that is neither. */
export function zoneOf(place: string): string | undefined {
  const key = keyOf(place)
  known ??= knownZones()
  return known.get(key)
}

function knownZones(): Map<string, string> {
  const zones = new Map<string, string>()
  for (const zone of ['UTC', 'GMT', ...Intl.supportedValuesOf('timeZone')]) {
    const city = keyOf(zone.split('/').at(-1) ?? '')
    if (!zones.has(city)) zones.set(city, zone)
    zones.set(keyOf(zone), zone)
  }
  for (const [city, zone] of Object.entries(others)) zones.set(city, zone)
  return zones
}

/** Without accents, spaces and case: `São Paulo`, `sao_paulo`. */
function keyOf(place: string): string {
  return place
    .normalize('NFD')
    .replaceAll(/[^\p{L}\p{N}/+-]/gu, '')
    .toLowerCase()
}
