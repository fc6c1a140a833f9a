// `synapse/ai-sdk`: any language model of the AI SDK as a provider of Synapse, and Synapse as a language model of the
// AI SDK. Needs nothing of the SDK at run time: only the shape of its models (specification v4).

export { aiSdkProvider } from './ai-sdk/adapter.ts'
export { synapseModel, type SynapseModelOptions } from './ai-sdk/synapse-model.ts'
