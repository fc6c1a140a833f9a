// A real Chromium, without a window: the one that test/run.ts serves to all files, or a new one.

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

/** A name that the browser takes for this machine, as if it were another one. */
export const remoteName = 'chat.example'

/** The name of the address where the browser for all files is. */
export const sharedBrowser = 'SYNAPSE_TEST_BROWSER'

function launching(): { executablePath: string; args: string[] } | undefined {
  const executablePath = findChromium()
  const args = [...flags, `--host-resolver-rules=MAP ${remoteName} 127.0.0.1`]
  return executablePath === undefined ? undefined : { executablePath, args }
}

/** Undefined where there is none. */
export async function openBrowser(): Promise<Browser | undefined> {
  const shared = process.env[sharedBrowser]
  const options = launching()
  return shared === undefined ? options && chromium.launch(options) : chromium.connect(shared)
}

/** It ends with this process, however that ends. */
export async function serveBrowser(): Promise<{ url: string; close: () => Promise<void> } | undefined> {
  const options = launching()
  const server = options && (await chromium.launchServer({ ...options, host: '127.0.0.1' }))
  return server && { url: server.wsEndpoint(), close: () => server.close() }
}
