// `npm run test:all` takes its time: loops run longer, and of a matrix everything is tried instead of a sample.

export const thorough: boolean = process.env['SYNAPSE_TEST'] === 'all'
