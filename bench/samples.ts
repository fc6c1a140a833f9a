// Texts of each kind that is sent to models, written for this purpose; none of them was used to fit the estimate.

import { readFileSync, globSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

export function samples(): Record<string, string[]> {
  const docs = globSync('docs/**/*.md', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  const code = globSync('src/{context,run,transport}/*.ts', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  )
  const lock = readFileSync(join(root, 'package.json'), 'utf8')
  return {
    English: docs.map((text) => text.replaceAll(/```[\s\S]*?```|^\|.*$/gm, '')),
    code,
    JSON: [lock, ...records()],
    CJK: [chinese, japanese, korean],
    'tool output': [listing(), testRun()],
  }
}

function records(): string[] {
  return Array.from({ length: 40 }, (_, i) =>
    JSON.stringify({
      id: `order_${i * 7919}`,
      customer: { name: ['Ada', 'Grace', 'Edsger'][i % 3], tier: i % 2 ? 'gold' : null },
      items: [{ sku: `SKU-${1000 + i}`, quantity: i % 5, price: 19.99 + i }],
      createdAt: new Date(1_700_000_000_000 + i * 86_400_000).toISOString(),
      paid: i % 4 !== 0,
    }),
  )
}

function listing(): string {
  const names = ['index', 'server', 'retry-policy', 'READ_ME', 'config.local']
  return Array.from({ length: 120 }, (_, i) => {
    const name = `${names[i % 5]}-${i}.ts`
    return `-rw-r--r--  1 app  staff  ${String(i * 613).padStart(7)} Nov ${String((i % 28) + 1).padStart(2)} 09:${String(i % 60).padStart(2, '0')} src/${name}`
  }).join('\n')
}

function testRun(): string {
  return Array.from({ length: 120 }, (_, i) =>
    i % 9 === 0
      ? `  ✖ refuses a request without a key (${i}.${i % 10} ms)\n    AssertionError: expected 401, got 200\n      at test/server/auth.test.ts:${i}:12`
      : `  ✔ keeps message ${i} when the stream breaks off (${(i * 0.37).toFixed(2)} ms)`,
  ).join('\n')
}

const chinese = [
  '缓存失效以后，请求的费用会突然升高。我们先检查了日志，然后把旧的工具结果折叠成一行，这样前缀在很多轮对话里都不会改变。如果供应商返回错误，就重新发送完整的历史记录。',
  '昨天傍晚，老街的尽头下起了小雨。卖豆腐的老人把摊子往屋檐下挪了挪，还是和平常一样吆喝着。孩子们撑着一把旧伞跑过去，鞋子溅起一路水花，谁也不肯先回家。',
  '您好，我上个月二十三号订了两张去昆明的机票，现在想把返程改到周五晚上，请问需要补多少差价？另外行李额度是不是还是二十公斤？',
].join('\n')
const japanese = [
  'キャッシュが切れると、リクエストの料金が急に高くなります。まずログを確認し、古いツールの結果を一行にまとめました。こうすると、多くのターンで先頭部分が変わりません。',
  '祖母の家の裏には小さな畑があって、夏になるとトマトやきゅうりが食べきれないほど実った。朝早く起きて井戸の水で顔を洗い、まだ露に濡れた葉の間を歩くのが好きだった。',
  'お世話になっております。先日ご相談した打ち合わせの件ですが、来週の水曜日の午後三時からに変更していただくことは可能でしょうか。資料は前日までにお送りします。',
].join('\n')
const korean = [
  '캐시가 만료되면 요청 비용이 갑자기 올라갑니다. 먼저 로그를 확인하고 오래된 도구 결과를 한 줄로 접었습니다. 이렇게 하면 여러 번의 대화 동안 앞부분이 바뀌지 않습니다.',
  '할머니 댁 뒷마당에는 감나무가 한 그루 있었는데, 가을이면 까치들이 먼저 와서 익은 감을 쪼아 먹곤 했다. 우리는 평상에 누워 구름이 흘러가는 모습을 오래도록 바라보았다.',
  '안녕하세요, 지난주에 주문한 상품이 아직 도착하지 않아서 문의드립니다. 주문 번호는 문자로 받은 그대로이고, 배송 조회에는 사흘째 같은 곳에 머물러 있다고 나옵니다.',
].join('\n')
