// The browser of the page's tests: the one that CHROMIUM names, or the system's.

import { existsSync } from 'node:fs'

export function findChromium(): string | undefined {
  // The same browser without a window takes two thirds of the processor time.
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  const places = [process.env['CHROMIUM'], ...names.map((name) => `/usr/bin/${name}`)]
  return places.find((place) => place !== undefined && existsSync(place))
}
