// A replacement for `Buffer` outside Node. The build adds it to bundles for browsers and Workers.

export { Buffer } from 'buffer/'
