// The message box. Enter sends, Shift and Enter starts a line; while an answer streams, the same button stops it.

import { useRef } from 'preact/hooks'
import type { Part } from '../api/types.ts'
import { FilePicker } from '../parts/files.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { compact, money } from '../parts/format.ts'
import { attach, attachments, removeAttachment } from '../state/attachments.ts'
import { comparing } from '../state/compare.ts'
import { isUnseen } from '../state/capabilities.ts'
import { markedPrompt, promptKey, PromptList } from './prompt-list.tsx'
import { current, model, rows } from '../state/conversation.ts'
import { nextEstimate } from '../state/inspector.ts'
import { enqueue, queue, unqueue } from '../state/queue.ts'
import { expanded } from '../state/prompts.ts'
import { live } from '../state/run.ts'
import { send, stop } from '../state/actions.ts'
import { changingSettings, draft, editing, pickingModel } from '../state/surface.ts'

export function Composer() {
  const picker = useRef<HTMLInputElement>(null)
  const running = live.value !== undefined
  const isEmpty = draft.value.trim() === '' && attachments.value.length === 0
  return (
    <form
      class="composer"
      aria-label="Next message"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Queue />
      <Attached />
      <PromptList />
      <textarea
        id="message"
        rows={1}
        dir="auto"
        aria-label="Message"
        aria-controls={markedPrompt() && 'prompts'}
        aria-activedescendant={markedPrompt()}
        placeholder="Message"
        value={draft.value}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onPaste={(event) => {
          const files = event.clipboardData?.files
          if (!files?.length) return
          event.preventDefault()
          void attach([...files])
        }}
        onKeyDown={(event) => {
          if (!event.isComposing && !event.shiftKey && promptKey(event.key)) return event.preventDefault()
          if (event.key === 'ArrowUp' && isEmpty && !running && editLast()) event.preventDefault()
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void submit()
        }}
      />
      <div class="composer-bar">
        <IconButton icon="clip" label="Attach files" onClick={() => picker.current?.click()} />
        <FilePicker picker={picker} onFiles={(files) => void attach(files)} />
        <button type="button" class="model-button" aria-haspopup="dialog" onClick={() => (pickingModel.value = true)}>
          <span class="sr-only">Model: </span>
          <span class="model-name">{model.value}</span>
          <Icon name="down" />
        </button>
        <IconButton icon="gear" label="Settings of this conversation" onClick={() => (changingSettings.value = true)} />
        <IconButton icon="columns" label="Compare models" disabled={running} onClick={() => (comparing.value = true)} />
        <NextCost />
        {running && !isEmpty && (
          <button type="submit" class="round" aria-label="Queue" title="Queue: sent when this answer is done">
            <Icon name="send" />
          </button>
        )}
        {running ? (
          <button type="button" class="round" aria-label="Stop" title="Stop" onClick={stop}>
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" class="round primary" aria-label="Send" title="Send" disabled={isEmpty}>
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  )
}

/** Opens the last user message for editing. */
function editLast(): boolean {
  const last = rows.value.findLast((row) => row.role === 'user')
  if (!last) return false
  editing.value = last.key
  return true
}

async function submit(): Promise<void> {
  const typed = draft.value.trim()
  const text = expanded(typed)
  if (text === undefined) return
  const files = attachments.value
  if (text === '' && files.length === 0) return
  const parts: Part[] = [...files.map((file) => file.part), ...(text === '' ? [] : [{ type: 'text', text } as const])]
  draft.value = ''
  attachments.value = []
  if (live.value) return enqueue(parts)
  if (await send(parts)) return
  if (draft.value === '') draft.value = typed
  attachments.value = files
}

function Queue() {
  const queued = queue.value.filter((one) => one.conversationId === current.value?.id)
  if (queued.length === 0) return null
  return (
    <ul class="queued" aria-label="Queued messages">
      {queued.map((item, i) => {
        const text = item.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
        return (
          <li key={i}>
            <span dir="auto">{text || 'Files'}</span>
            <small>{live.value ? 'sent when this answer is done' : 'not sent yet'}</small>
            <IconButton
              icon="pencil"
              label="Edit the queued message"
              onClick={() => {
                unqueue(item)
                draft.value = [draft.value, text].filter(Boolean).join('\n')
              }}
            />
            <IconButton icon="close" label="Remove the queued message" onClick={() => unqueue(item)} />
          </li>
        )
      })}
    </ul>
  )
}

function Attached() {
  if (attachments.value.length === 0) return null
  return (
    <ul class="attached" aria-label="Attached files">
      {attachments.value.map((file) => (
        <li key={file.id}>
          <span>{file.name}</span>
          <small>{file.size < 1024 ? `${file.size} bytes` : `${compact(file.size / 1024)} kB`}</small>
          {isUnseen(file) && (
            <small class="unseen" role="status">
              {model.value.slice(model.value.indexOf('/') + 1)} will not see this
            </small>
          )}
          <IconButton icon="close" label={`Remove ${file.name}`} onClick={() => removeAttachment(file.id)} />
        </li>
      ))}
    </ul>
  )
}

function NextCost() {
  const next = nextEstimate.value
  return (
    <span class="next-cost" title="Estimate of the next request">
      {next && `≈ ${compact(next.tokens)} tokens${next.cost === undefined ? '' : `, ${money(next.cost)}`}`}
    </span>
  )
}
