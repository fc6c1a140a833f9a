import assert from 'node:assert/strict'
import test, { describe } from 'node:test'
import { Script } from 'node:vm'
import { inParentheses } from '../../scripts/compile-on-load.ts'

/** Long enough that the size of the compiled code shows whether it was compiled. */
const long = 'let n=0;' + 'n=n*3+1;'.repeat(100) + 'return n'

/** The code with the functions that begin at these words taken as called, and its value before and after. */
function changed(code: string, ...marks: string[]) {
  const called = new Set(marks.map((mark) => code.indexOf(mark)))
  const written = inParentheses(code, called)
  return { written, before: new Script(code).runInThisContext(), after: new Script(written).runInThisContext() }
}

describe('a function that is called', () => {
  const compiledBytes = (code: string) => new Script(code).createCachedData().length
  const forms: [string, string, string][] = [
    ['declared', `function f(){${long}}`, 'function'],
    ['asynchronous', `async function f(){${long}}`, 'async'],
    ['a generator', `function* f(){${long}}`, 'function'],
    ['a value', `var f=function(){${long}}`, 'function'],
    ['an arrow', `var f=()=>{${long}}`, '()'],
    ['a method of an object', `var f={run(){${long}}}`, 'run'],
    ['an asynchronous method', `var f={async run(){${long}}}`, 'async'],
  ]
  for (const [name, code, mark] of forms) {
    test(`${name}: is compiled with its file`, () => {
      const written = inParentheses(code, new Set([code.indexOf(mark)]))
      assert.ok(compiledBytes(written) > compiledBytes(code) + 1000)
    })
  }

  test('within another one, too', () => {
    const code = `function outer(){function inner(){${long}}return inner()}`
    const one = inParentheses(code, new Set([0]))
    const both = inParentheses(code, new Set([0, code.indexOf('function inner')]))
    assert.ok(compiledBytes(both) > compiledBytes(one) + 1000)
  })
})

describe('nothing else changes', () => {
  const same = (code: string, ...marks: string[]) => {
    const { written, before, after } = changed(code, ...marks)
    assert.notEqual(written, code)
    assert.deepEqual(after, before)
  }

  test('a declaration is used before it', () => same('[f(2)];function f(a){return a*2}', 'function'))
  test('one uses another, both used before them', () =>
    same('[f(2)];function f(a){return g(a)}function g(a){return a+1}', 'function f', 'function g'))
  test('a declaration in a function, after a parameter of that name', () =>
    same('((f)=>{const x=f();return x;function f(){return 5}})(1)', 'function f', '(f)=>'))
  test('a declaration in a block is known only there', () =>
    same('(()=>{"use strict";let s;{s=f();function f(){return "in"}}return [s, typeof f]})()', 'function f'))
  test('a directive stays the first', () =>
    same(
      '(function(){"use strict";return [this===undefined,f()];function f(){return 1}})()',
      'function f',
      'function()',
    ))
  test('names of functions', () =>
    same('function f(){}var o={run(){},b:()=>1};[f.name,o.run.name,o.b.name]', 'function f', 'run', '()=>'))
  test('this and arguments', () => same('var o={x:1,run(a){return [this.x,arguments.length,a]}};o.run(4,5)', 'run'))
  test('functions that were not called stay as they are', () => {
    const code = 'function f(){}const g=()=>1;class A{m(){}}'
    assert.equal(inParentheses(code, new Set()), code)
  })
  test('methods of classes, and those that need super', () => {
    const code = 'class A{m(){return 1}}var o={m(){return super.toString()},get g(){return 2},["c"](){return 3}}'
    const marks = ['m(){return 1', 'm(){return super', 'get g', '["c"]'].map((mark) => code.indexOf(mark))
    assert.equal(inParentheses(code, new Set(marks)), code)
  })
})
