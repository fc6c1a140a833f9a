// OpenAI's lists with pages, with `order`, `limit` and `after`. Newest first by default.

import type { JsonObject } from '../../core/json.ts'
import { openaiRefusal } from './refusal.ts'

/** A page of these items, given in order of arrival. Throws a Refusal. */
export function pageOf(items: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const ordered = orderOf(query) === 'asc' ? items : items.toReversed()
  const limit = limitOf(query)
  const after = query.get('after')
  const from = after === null ? 0 : placeAfter(ordered, after)
  const data = ordered.slice(from, from + limit)
  return listOf(data, from + limit < ordered.length)
}

export function listOf(data: JsonObject[], hasMore: boolean = false): JsonObject {
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  }
}

function orderOf(query: URLSearchParams): 'asc' | 'desc' {
  const order = query.get('order') ?? 'desc'
  if (order === 'asc' || order === 'desc') return order
  throw openaiRefusal(400, `Invalid value: '${order}'. Supported values are: 'asc' and 'desc'.`, {
    param: 'order',
    code: 'invalid_value',
  })
}

const usualLimit = 20
const highestLimit = 100

function limitOf(query: URLSearchParams): number {
  const requested = query.get('limit')
  const limit = requested === null ? usualLimit : Number(requested)
  if (!Number.isInteger(limit)) {
    const message = `Invalid type for 'limit': expected an integer, but got a string instead.`
    throw openaiRefusal(400, message, { param: 'limit', code: 'invalid_type' })
  }
  if (limit >= 1 && limit <= highestLimit) return limit
  const [side, bound, code] =
    limit < 1
      ? ['below minimum', '>= 1', 'integer_below_min_value']
      : ['above maximum', `<= ${highestLimit}`, 'integer_above_max_value']
  const message = `Invalid 'limit': integer ${side} value. Expected a value ${bound}, but got ${limit} instead.`
  throw openaiRefusal(400, message, { param: 'limit', code })
}

function placeAfter(items: readonly JsonObject[], id: string): number {
  const place = items.findIndex((item) => item.id === id)
  if (place >= 0) return place + 1
  throw openaiRefusal(400, `Item with id '${id}' not found.`, { param: 'after' })
}
