// A real Chromium, without a window.

import { chromium, type Browser } from 'playwright-core'
import { findChromium } from '../chromium.ts'

export const noBrowser = 'there is no Chromium: set CHROMIUM to one, or install the package chromium'

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
]

/** Undefined where there is none. */
export async function openBrowser(): Promise<Browser | undefined> {
  const executablePath = findChromium()
  return executablePath === undefined ? undefined : chromium.launch({ executablePath, args: flags })
}
