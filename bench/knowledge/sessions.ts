// Conversations with facts that come up early, in the results of tools, and are needed much later: support, research and
// coding, in English and Chinese. Made up, so that they can be part of the project; the same every time.

import type { Message } from '../../src/core/message.ts'
import { gapsFor } from '../money/gaps.ts'
import { seeded } from '../money/random.ts'
import { model, provider, type Trajectory } from '../money/trajectory.ts'

export interface Session extends Trajectory {
  /** What each request needs, by its number. */
  facts: ReadonlyMap<number, string>
}

interface Kind {
  id: string
  tool: string
  /** Tokens of system and tools. */
  system: number
  /** A fact, and the sentence of a result that says it. */
  facts: readonly [fact: string, sentence: string][]
  /** What else the results say, in each line. */
  filler: readonly string[] | ((random: () => number) => string)
  ask: string
  needed: string
}

const turns = 60
const fillerSentences = 30

const support: Kind = {
  id: 'support, English',
  tool: 'find_record',
  system: 3000,
  facts: [
    ['Marisol Etxeberria', 'The account manager for this customer is Marisol Etxeberria.'],
    ['A-77120-X', 'The replacement was shipped under order A-77120-X.'],
    ['1,249.50', 'A refund of 1,249.50 EUR was approved by finance.'],
    ['https://status.example.com/incidents/8831', 'See https://status.example.com/incidents/8831 for the outage.'],
    ['Antofagasta', 'The parcel waits at the warehouse in Antofagasta.'],
    ['17 March 2026', 'The contract ends on 17 March 2026 unless it is renewed.'],
    ['billing@northwind.example', 'Invoices go to billing@northwind.example only.'],
    ['GOLD_PLUS', 'The customer was moved to the plan GOLD_PLUS.'],
    ['90182040', 'The best number to call is +49 30 90182040 in the morning.'],
    ['Oyelaran Adebayo', 'The complaint was written by Oyelaran Adebayo herself.'],
  ],
  filler: [
    'The customer wrote in the morning and waits for an answer.',
    'There were no other notes on the account at that time.',
    'The usual checks were made and nothing was found.',
    'The device was tested and works as it should.',
    'The answer was sent with the usual apology.',
    'The team on duty looked at it and closed the ticket.',
    'The customer asked for a call and was told about the hours.',
  ],
  ask: 'Please look at the next record.',
  needed: 'Please write down what we found about this before.',
}

const supportChinese: Kind = {
  id: 'support, Chinese',
  tool: 'find_record',
  system: 3000,
  facts: [
    ['欧阳若兰', '客户姓名：欧阳若兰。'],
    ['DD20261103', '补发的订单号是 DD20261103。'],
    ['乌鲁木齐', '包裹目前在乌鲁木齐，等待处理。'],
    ['1,380.00', '财务批准的退款为 1,380.00 元。'],
    ['改用冷链运输', '双方决定：改用冷链运输。'],
    ['https://help.example.cn/t/5512', '说明见 https://help.example.cn/t/5512 页面。'],
    ['司徒文轩', '这次投诉由“司徒文轩”提出。'],
    ['3月17日', '合同到3月17日为止。'],
    ['13800138000', '联系电话：13800138000。'],
    ['海豚计划', '该客户属于“海豚计划”。'],
  ],
  filler: [
    '客户早上来信，还在等我们的回复。',
    '账户里没有其他的备注。',
    '常规检查已经做过，没有发现问题。',
    '设备测试正常，可以继续使用。',
    '回复已经发出，并且表示了歉意。',
    '值班的同事看过了，工单已经关闭。',
    '客户希望我们打电话给他，我们说明了时间。',
  ],
  ask: '请查看下一条记录。',
  needed: '请把之前查到的内容写下来。',
}

const research: Kind = {
  id: 'research, English',
  tool: 'read_source',
  system: 5000,
  facts: [
    ['Halvorsen', 'The first study was led by Halvorsen at the coast station.'],
    ['41.7', 'They report a mean salinity of 41.7 in the upper layer.'],
    ['doi.org/10.5555/kelp.2291', 'It is available as doi.org/10.5555/kelp.2291 without a fee.'],
    ['Posidonia', 'The meadow consists of Posidonia and some algae.'],
    ['318', 'The sample was small (n=318) and from one season.'],
    ['Ilse Brandvold', 'The data were collected by Ilse Brandvold and two students.'],
    ['1987', 'The station has kept a series since 1987 without a gap.'],
    ['pH8.13', 'The controls stayed at pH8.13 for the whole time.'],
    ['Lofoten', 'A second site was opened near Lofoten a year later.'],
    ['https://data.example.org/sets/kelp-44', 'Raw data: https://data.example.org/sets/kelp-44 (open).'],
  ],
  filler: [
    'The introduction repeats what is known about the subject.',
    'The methods are described in the usual way.',
    'The authors discuss the limits of what they did.',
    'More work is needed before this can be said with certainty.',
    'The figures show the same trend over the years.',
    'The results agree with those of earlier work.',
  ],
  ask: 'Read the next source.',
  needed: 'Note the detail from the earlier source in the draft.',
}

const researchChinese: Kind = {
  id: 'research, Chinese',
  tool: 'read_source',
  system: 5000,
  facts: [
    ['慕容雪', '第一项研究由慕容雪主持。'],
    ['41.7', '他们报告的平均盐度为41.7。'],
    ['青海湖', '采样地点在青海湖附近。'],
    ['2019年', '观测从2019年开始，没有中断。'],
    ['https://data.example.cn/sets/kelp-44', '原始数据：https://data.example.cn/sets/kelp-44（公开）。'],
    ['318份', '样本较小，只有318份。'],
    ['双盲对照', '采用的方法：双盲对照。'],
    ['诸葛明远', '数据由“诸葛明远”整理。'],
    ['海豚科技有限公司', '第二个地点由海豚科技有限公司负责日常维护工作。'],
    ['pH8.13', '对照组一直保持 pH8.13 的水平。'],
  ],
  filler: [
    '引言重复了已知的内容。',
    '方法按照通常的方式描述。',
    '作者讨论了研究的局限。',
    '还需要更多的工作才能确定。',
    '图中显示了同样的趋势。',
    '结果和以前的工作一致。',
  ],
  ask: '请阅读下一份资料。',
  needed: '请在草稿里写下之前资料中的细节。',
}

/** Long lists of the same kind of value around the one that counts. */
const records: Kind = {
  id: 'records, JSON',
  tool: 'get_customer',
  system: 3000,
  facts: [
    ['Marisol Etxeberria', '  "account_manager": "Marisol Etxeberria",'],
    ['RMA-77120-X', '  "return": "RMA-77120-X",'],
    ['1249.50', '  "refund_approved": 1249.50,'],
    ['https://status.example.com/incidents/8831', '  "see": "https://status.example.com/incidents/8831",'],
    ['Antofagasta', '  "warehouse": "Antofagasta",'],
    ['net_45_days', '  "terms": "net_45_days",'],
    ['billing@northwind.example', '  "invoices_to": "billing@northwind.example",'],
    ['GOLD_PLUS', '  "plan": "GOLD_PLUS",'],
    ['+49 30 90182040', '  "phone": "+49 30 90182040",'],
    ['Oyelaran Adebayo', '  "complaint_by": "Oyelaran Adebayo",'],
  ],
  filler(random) {
    const number = (digits: number) => String(Math.floor((1 + 9 * random()) * 10 ** (digits - 1)))
    const day = `2026-0${1 + Math.floor(random() * 9)}-${10 + Math.floor(random() * 18)}`
    return `  { "sku": "K-${number(5)}", "price": ${number(3)}.00, "date": "${day}", "status": "delivered" },`
  },
  ask: 'Look at the next customer.',
  needed: 'Write down what we found about this before.',
}

const coding: Kind = {
  id: 'coding',
  tool: 'read_file',
  system: 12_000,
  facts: [
    ['src/billing/prorate-invoice.ts', 'defined in src/billing/prorate-invoice.ts and used twice'],
    ['MAX_RETRY_WINDOW_MS', 'export const MAX_RETRY_WINDOW_MS = 90_000'],
    ['applyCreditNote', 'function applyCreditNote(invoice, note) {'],
    ['9f3c2ab', 'last changed in 9f3c2ab by the release job'],
    ['ECONNRESET_RETRY', 'if (code === ECONNRESET_RETRY) return again'],
    ['config/regions.eu-north.json', 'loads config/regions.eu-north.json when it starts'],
    ['v2.14.3', 'since v2.14.3 the flag is on by default'],
    ['legacy_tax_table', 'select rate from legacy_tax_table where year = now'],
    ['parseVatNumber', 'import { parseVatNumber } from the helpers'],
    ['test/billing/rounding.test.ts', 'covered by test/billing/rounding.test.ts only'],
  ],
  filler: [
    'const value = read(input)',
    'if (value === undefined) return',
    'for (const item of items) add(item)',
    '// the usual case',
    'return value',
    'export function start(options) {',
    'throw new Error("not ready")',
  ],
  ask: 'Look at the next file.',
  needed: 'Change the place that we found before.',
}

export function madeUpSessions(): Session[] {
  return [support, supportChinese, research, researchChinese, records, coding].map(session)
}

/** Facts come up in the first third, and each is needed once, in the last third. */
function session(kind: Kind, seed: number): Session {
  const random = seeded(4000 + seed)
  const messages: Message[] = []
  const replies: number[] = []
  const facts = new Map<number, string>()
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? ''
  for (let turn = 0; turn < turns; turn++) {
    const fact = kind.facts[turn / 2]
    const needed = kind.facts[(turn - 40) / 2]
    const { filler } = kind
    const lines = Array.from({ length: fillerSentences }, () =>
      typeof filler === 'function' ? filler(random) : pick(filler),
    )
    if (fact) lines.splice(Math.floor(random() * fillerSentences), 0, fact[1])
    messages.push({ role: 'user', parts: [{ type: 'text', text: needed ? kind.needed : kind.ask }] })
    if (needed) facts.set(replies.length, needed[0])
    replies.push(messages.length)
    const callId = `call-${seed}-${turn}`
    const input = needed ? { note: needed[0] } : { number: turn }
    messages.push(reply([{ type: 'tool-call', callId, name: kind.tool, input }]))
    const output = [{ type: 'text' as const, text: lines.join('\n') }]
    messages.push({ role: 'tool', parts: [{ type: 'tool-result', callId, name: kind.tool, output }] })
    replies.push(messages.length)
    messages.push(reply([{ type: 'text', text: 'Done.' }]))
  }
  const clues = replies.map((at) => ({ byUser: messages[at - 1]?.role === 'user' }))
  const times = gapsFor(clues, seed + 1)
  return {
    id: kind.id,
    messages,
    system: kind.system,
    requests: replies.map((at, i) => ({ reply: at, at: times[i] ?? 0 })),
    sizes: { hidden: new Map(), scale: new Map() },
    facts,
  }
}

function reply(parts: Extract<Message, { role: 'assistant' }>['parts']): Message {
  const reason = parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'done'
  return { role: 'assistant', parts, native: [], origin: { protocol: 'bench', provider, model }, stop: { reason } }
}
