// What the chosen model takes besides text, for the files that go with the next message.

import { effect, signal } from '@preact/signals'
import { api } from '../api/routes.ts'
import { attachments, type Attachment } from './attachments.ts'
import { model } from './conversation.ts'

const known = signal<ReadonlyMap<string, readonly string[]>>(new Map())
const asking = new Set<string>()

effect(() => {
  const name = model.value
  if (attachments.value.length === 0 || name === '' || known.value.has(name) || asking.has(name)) return
  asking.add(name)
  void api
    .capabilities(name)
    .then(({ media }) => (known.value = new Map(known.value).set(name, media)))
    .catch(() => {})
    .finally(() => asking.delete(name))
})

/** Text is read by every model; of the rest, only what the model takes. False while that is not known. */
export function isUnseen({ isText, part }: Attachment): boolean {
  const media = known.value.get(model.value)
  if (isText || !media) return false
  return !media.some((one) =>
    one.endsWith('/*') ? part.mediaType.startsWith(one.slice(0, -1)) : one === part.mediaType,
  )
}
