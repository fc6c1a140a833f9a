// The media type of a link to bytes of the log. The sender chose their type, and a page that is opened as `text/html`
// or `image/svg+xml` runs its scripts.

const harmless = /^(?:image\/(?!svg)[a-z0-9.+-]+|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|application\/pdf|text\/plain)$/

export function safeType(mediaType: string): string {
  const plain = mediaType.toLowerCase()
  return harmless.test(plain) ? plain : 'application/octet-stream'
}
