// A real Chromium, without a window.

import { chromium, type Browser } from 'playwright-core'
import { findChromium } from '../chromium.ts'

export const noBrowser = 'there is no Chromium: set CHROMIUM to one, or install the package chromium'

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // A process of its own for drawing without a graphics card costs a tenth more.
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
]

/** A name that the browser takes for this machine, as if it were another one. */
export const remoteName = 'chat.example'

/** It ends with this process, however that ends. Undefined where there is none. */
export async function openBrowser(): Promise<Browser | undefined> {
  const executablePath = findChromium()
  const args = [...flags, `--host-resolver-rules=MAP ${remoteName} 127.0.0.1`]
  return executablePath === undefined ? undefined : chromium.launch({ executablePath, args })
}
