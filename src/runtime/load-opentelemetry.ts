// The OpenTelemetry API, which the application provides: Synapse must use the same copy as its SDK. Its types are
// declared as far as they are used, so that a tracer or meter of any copy and version fits.

import { badInput } from '../core/error.ts'

export type TelemetryAttributes = Record<string, string | number | boolean | string[]>

export interface TelemetrySpan {
  spanContext(): { traceId: string }
  setAttribute(key: string, value: string | number | boolean | string[]): unknown
  setAttributes(attributes: TelemetryAttributes): unknown
  addEvent(name: string, attributes?: TelemetryAttributes): unknown
  setStatus(status: { code: number }): unknown
  end(): void
}

export interface TelemetryTracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: TelemetryAttributes },
    context?: unknown,
  ): TelemetrySpan
}

export interface TelemetryMeter {
  createHistogram(
    name: string,
    options?: { unit?: string; description?: string },
  ): { record(value: number, attributes?: TelemetryAttributes): void }
}

export interface OpenTelemetry {
  context: { active(): unknown }
  trace: { getTracer(name: string): TelemetryTracer; setSpan(context: unknown, span: TelemetrySpan): unknown }
  metrics: { getMeter(name: string): TelemetryMeter }
}

export async function loadOpenTelemetry(): Promise<OpenTelemetry> {
  try {
    const { context, metrics, trace }: OpenTelemetry = await import('@opentelemetry/api')
    return { context, metrics, trace }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw badInput('telemetry needs the package @opentelemetry/api: npm install @opentelemetry/api.')
  }
}
