// Spans of a run in OpenTelemetry, with the names of the GenAI conventions. Works with every SDK from 1.x on.

import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { defineTool, openSynapse } from 'synapse'

const exporter = new InMemorySpanExporter() // an OTLP exporter in production
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))

const clock = defineTool({ name: 'clock', input: { type: 'object' }, run: () => '12:00' })
const synapse = await openSynapse({ offline: true, telemetry: true })
const chat = await synapse.start({ model: 'anthropic/claude-opus-5', tools: [clock] })
await chat.send('What time is it?').ended
for (const { name, attributes } of exporter.getFinishedSpans()) {
  console.log(name, attributes['gen_ai.usage.input_tokens'] ?? '')
}
await synapse.close()
