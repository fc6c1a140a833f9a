// The browser of the page's tests: the one that CHROMIUM names, or the system's.

import { existsSync } from 'node:fs'

export function findChromium(): string | undefined {
  const places = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  return places.find((place) => place !== undefined && existsSync(place))
}
