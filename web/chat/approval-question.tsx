// A tool call that waits for approval: what it would change, and how long the permission lasts. An answer is valid for
// exactly these arguments.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Approval } from '../api/types.ts'
import { answer } from '../state/actions.ts'
import { live } from '../state/run.ts'

export function ApprovalQuestion({ approval }: { approval: Approval }) {
  const [reason, setReason] = useState('')
  const [isDenying, setDenying] = useState(false)
  const isBusy = live.value !== undefined
  const { name } = approval.call
  const canRemember = approval.source !== undefined && !isDenying
  const reasonField = useRef<HTMLInputElement>(null)
  useEffect(() => reasonField.current?.focus(), [isDenying])
  const deny = () => void answer(approval, { allowed: false, ...(reason.trim() && { reason: reason.trim() }) })
  return (
    <div class="question">
      {approval.diff && <Difference diff={approval.diff} />}
      <p>
        Allow {name} to run with these arguments?
        {approval.source !== undefined && approval.source !== 'built-in' && <small> From {approval.source}.</small>}
      </p>
      {isDenying && (
        <label>
          Reason, for the model
          <input
            ref={reasonField}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.isComposing) deny()
              if (event.key !== 'Escape') return
              event.preventDefault()
              setDenying(false)
            }}
          />
        </label>
      )}
      <div class="buttons">
        <button type="button" disabled={isBusy} onClick={() => (isDenying ? deny() : setDenying(true))}>
          {isDenying ? 'Deny' : 'Do not allow'}
        </button>
        {canRemember && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => void answer(approval, { allowed: true, scope: 'always' })}
          >
            Always allow {name}
          </button>
        )}
        {canRemember && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => void answer(approval, { allowed: true, scope: 'conversation' })}
          >
            Allow in this conversation
          </button>
        )}
        {isDenying ? (
          <button type="button" onClick={() => setDenying(false)}>
            Cancel
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            disabled={isBusy}
            onClick={() => void answer(approval, { allowed: true })}
          >
            Allow once
          </button>
        )}
      </div>
    </div>
  )
}

const kinds = { '+': 'new', '-': 'gone', ' ': 'same', '…': 'same' } as const

function Difference({ diff }: { diff: NonNullable<Approval['diff']> }) {
  return (
    <>
      <p class="caption">Changes in {diff.path}</p>
      <pre class="json difference" tabIndex={0} role="group" aria-label={`Changes in ${diff.path}`}>
        {diff.lines.map((line, i) => (
          <span key={i} class={`line ${kinds[line.sign]}`}>
            {line.sign} {line.text}
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  )
}
