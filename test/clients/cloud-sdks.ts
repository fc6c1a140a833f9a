// Official clients of the clouds, unchanged, at pinned versions.

import { installedSdk } from './installed-sdks.ts'

const packages = {
  '@anthropic-ai/aws-sdk': '1.1.2',
  '@anthropic-ai/bedrock-sdk': '1.1.2',
  '@anthropic-ai/foundry-sdk': '1.1.1',
  '@anthropic-ai/sdk': '1.8.0',
  '@anthropic-ai/vertex-sdk': '1.1.3',
  '@aws-crypto/sha256-js': '5.2.0',
  '@aws-sdk/client-bedrock-runtime': '3.1162.0',
  '@google/genai': '2.32.0',
  '@smithy/eventstream-codec': '4.5.2',
  '@smithy/node-http-handler': '4.14.2',
  '@smithy/signature-v4': '5.7.5',
  'cohere-ai': '8.1.0',
  'google-auth-library': '11.3.4',
  openai: '7.53.0',
}

/** `Sdk` is as much of its types as a test uses. */
export function cloudSdk<Sdk>(name: keyof typeof packages): Promise<Sdk> {
  return installedSdk('cloud-sdks', packages, name)
}
