// node:test follows every promise, to name the test of an error that nothing has caught: a fifth of the processor time of
// the tests. In the whole suite it follows none: such an error still fails the run, and its file, run alone, names the
// test. To be loaded before `node:test`.

const hooks = process.getBuiltinModule('node:async_hooks')
const { createHook } = hooks
hooks.createHook = (callbacks) => {
  hooks.createHook = createHook
  return createHook({ ...callbacks, trackPromises: false })
}
