// A network that answers every request with one stream.

export interface StreamPeer {
  name: string
  read(protocol: string, chunks: readonly Uint8Array[]): Promise<number>
}

export function answering(chunks: readonly Uint8Array[]): typeof fetch {
  return () => {
    let next = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks[next++]
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
}
