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

/** Undefined where there is none. `names` are looked up as this machine. */
export async function openBrowser(names: readonly string[] = []): Promise<Browser | undefined> {
  const executablePath = findChromium()
  const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(', ')
  return executablePath === undefined
    ? undefined
    : chromium.launch({ executablePath, args: [...flags, `--host-resolver-rules=${rules}`] })
}
