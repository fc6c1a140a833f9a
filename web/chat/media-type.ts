// The media type of a link to bytes of the log. Whoever sent them chose their type, and a page that is opened under
// `text/html` or `image/svg+xml` runs what is in it.

const harmless = /^(?:image\/(?!svg)[a-z0-9.+-]+|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|application\/pdf|text\/plain)$/

export function safeType(mediaType: string): string {
  const plain = mediaType.toLowerCase()
  return harmless.test(plain) ? plain : 'application/octet-stream'
}
