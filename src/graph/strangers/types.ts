/** Cases: results of calls, computed types, and names that only look alike. */
import type { Case } from "./case.ts";

export const TYPES: readonly Case[] = [
  {
    title: "chains on what call signatures give, through merged and intersected types",
    files: {
      "a.ts":
        "type Merge<T> = T extends [infer A, infer B] ? A & B : never;\ninterface Use<E> {\n  <E2 = E>(...h: ((c: E2) => void)[]): App<Merge<[E, E2]>>\n  <P extends string, E2 = E>(path: P, ...h: ((c: E2) => void)[]): App<Merge<[E, E2]>, P>\n}\nexport interface Then<T> { then2(f: (x: T) => void): void }\nexport class App<E = object, P extends string = '/'> { use!: Use<E>; end2(): void {} }\nexport declare function ready(): App & Then<App>;\n",
      "use.ts":
        "import { App, ready } from './a';\nexport function main() {\n  new App().use('*', (_c) => {}).end2();\n  new App().use((_c) => {}).use((_c) => {}).end2();\n  ready().end2();\n}\n",
    },
    calls: [
      "main > App.use @ use.ts:3",
      "main > App.end2 @ use.ts:3",
      "main > App.end2 @ use.ts:4",
      "main > App.end2 @ use.ts:5",
    ],
  },
  {
    title: "clients whose members come from mapped, conditional and inferred types",
    files: {
      "a.ts":
        "export interface Answer<T> { json2(): Promise<T> }\nexport interface Call<T> { $ask(): Promise<Answer<T>>; $url(): URL }\nexport class App<S = {}> { s!: S }\nexport interface Def<T> { _out: T }\nexport interface Query<T> { run2(): T }\ntype Decorate<D> = D extends Def<infer T> ? Query<T> : never;\nexport type Client<T> = T extends App<infer S> ? { [K in keyof S]: Call<S[K]> } : never;\ntype Together<U> = (U extends any ? (k: U) => void : never) extends (k: infer I) => void ? I : never;\nexport declare function client<T>(url: string): Client<T>;\nexport const joined = <T extends App<any>>(url: string) => ({}) as Together<Client<T>>;\nexport declare function caller<R extends Record<string, Def<any>>>(): { [K in keyof R]: Decorate<R[K]> };\n",
      "use.ts":
        "import { type App, caller, client, type Def, joined } from './a';\nexport async function main() {\n  const c = client<App<{ posts: string[] }>>('u');\n  const res = await c.posts.$ask();\n  await res.json2();\n  const j = joined<App<{ posts: string[] }>>('u');\n  const other = await j.posts.$ask();\n  other.json2();\n  caller<{ user: Def<string> }>().user.run2();\n}\n",
    },
    calls: [
      "main > Call.$ask @ use.ts:4",
      "main > Answer.json2 @ use.ts:5",
      "main > Call.$ask @ use.ts:7",
      "main > Answer.json2 @ use.ts:8",
      "main > Query.run2",
    ],
  },
  {
    title: "functions taken apart, wrapped, held in lists, defaults and later assignments",
    files: {
      "a.ts":
        "export interface Ctx { load2(id: string): void }\nexport function one({ load2 }: Ctx) { load2('1'); }\ndeclare function cache<F extends (...a: any[]) => any>(f: F): F;\nfunction fetch2(id: string) { return id; }\nconst cached = cache(fetch2);\nexport function two() { return cached('x'); }\nfunction left2() {}\nfunction right2() {}\nexport function three(x: boolean) { [left2, right2].forEach((f) => f()); (x ? left2 : right2)(); }\ninterface Opts { join2?: (p: string) => string }\nfunction plain2(p: string) { return p; }\nexport function four(o: Opts) { const join2 = o.join2 ?? plain2; join2('a'); }\n",
      "b.test.ts":
        "class Shop { open2() {} }\ndeclare function before(f: () => void): void;\nlet shop: Shop;\nbefore(() => { shop = new Shop(); });\nbefore(() => { shop.open2(); });\n",
    },
    calls: [
      "one > Ctx.load2",
      "two > fetch2",
      "three > left2",
      "three > right2",
      "four > Opts.join2",
      "four > plain2",
      "b.test.ts > Shop.open2",
    ],
  },
  {
    title: "members that only line ends separate, before a generic signature or a bracket",
    files: {
      "a.ts":
        "export interface Make {\n  run(h: string): Box\n  // the same with two\n  <\n    A extends Box = Box,\n    C extends Box = A,\n  >(h: A, c: C): A\n  size: number\n  [key: string]: unknown\n}\nexport interface Plain {\n  (h: string): Box\n  <A extends Box>(h: A): A\n}\nexport class Box {}\nexport function after2() {}\nexport function user() {\n  after2();\n}\n",
      "b.ts": "import { after2 } from './a';\nexport function other() { after2(); }\n",
    },
    calls: ["user > after2", "other > after2"],
  },
  {
    title: "what a function from outside hands to a callback is never guessed",
    files: {
      "app.js": "class App {\n  after2 (f) { f() }\n  close2 () {}\n}\nmodule.exports = { App }\n",
      "a.test.js":
        "const { test } = require('node:test')\nconst { App } = require('./app')\ntest('x', (t) => {\n  const app = new App()\n  t.after2(() => app.close2())\n})\ntest('y', { run: (t) => t.after2() })\n",
    },
    calls: ["a.test.js > App.close2"],
    not: ["a.test.js > App.after2"],
  },
  {
    title: "declarations beside JavaScript are what an import means; what they leave out is the JavaScript's",
    files: {
      "kit.d.ts": "export interface Kit { go2(): void }\nexport default function kit(): Kit;\n",
      "kit.js": "function kit () { return { go2 () {} } }\nkit.hidden2 = function () {}\nmodule.exports = kit\n",
      "use.ts": "import kit from './kit.js';\nexport function main() {\n  kit().go2();\n}\n",
    },
    calls: ["main > kit.d.ts#kit", "main > Kit.go2"],
  },
  {
    title: "CommonJS: properties beside a whole export, made functions, a module that is one function",
    files: {
      "errors.js":
        "const codes = { A: 1 }\nfunction add2 (a) { return a }\nmodule.exports = codes\nmodule.exports.add2 = add2\n",
      "hooks.js":
        "function makeRunner (f) {\n  return function run (list) { list.forEach(f) }\n}\nconst onStart = makeRunner((f) => f())\nmodule.exports = { onStart }\n",
      "make.js": "function make () { return {} }\nmodule.exports = make\nmodule.exports.make = make\n",
      "tag.js":
        "const toText = Object.prototype.toString\nfunction tag (x) { return toText.call(x) }\nmodule.exports = { tag }\n",
      "use.js":
        "const { A, add2 } = require('./errors')\nconst { onStart } = require('./hooks')\nfunction main () {\n  add2(A)\n  onStart([])\n}\n",
      "use.mjs": "import make, { make as again } from './make.js'\nexport function both () {\n  make()\n  again()\n}\n",
    },
    calls: ["main > add2", "main > onStart", "both > make @ use.mjs:3", "both > make @ use.mjs:4", "tag > toText"],
  },
  {
    title: "what a holder from outside was made to hold",
    files: {
      "a.ts":
        "import { useRef } from 'some-ui';\nexport interface Sub { stop2(): void }\nexport function useIt() {\n  const sub = useRef<Sub | null>(null);\n  return () => { sub.current?.stop2(); };\n}\n",
    },
    calls: ["useIt > Sub.stop2"],
  },
  {
    title: "members named by symbols",
    files: {
      "a.ts":
        "export const kOpen = Symbol('open');\nexport class Res {\n  [kOpen](): void {}\n  [Symbol.iterator](): Iterator<number> { return [][Symbol.iterator](); }\n}\n",
      "use.ts":
        "import { kOpen, Res } from './a';\nexport function main(r: Res) {\n  r[kOpen]();\n  r[Symbol.iterator]();\n}\n",
    },
    calls: ["main > Res.[kOpen]", "main > Res.[Symbol.iterator]"],
  },
  {
    title: "a member of one of several types",
    files: {
      "a.ts":
        "export class Leaf { toString(): string { return ''; } }\nexport function show(c: Leaf | string) {\n  return c.toString();\n}\n",
    },
    calls: ["show > Leaf.toString"],
  },
  {
    title: "Python: the value of a yield, and a class out of a dictionary",
    files: {
      "a.py":
        "from typing import Generator\n\n\nclass Answer:\n    def ok2(self) -> bool:\n        return True\n\n\nclass Ask:\n    pass\n\n\nKINDS = {'answer': Answer, 'ask': Ask}\n\n\ndef flow(ask: Ask) -> Generator[Ask, Answer, None]:\n    answer = yield ask\n    if answer.ok2():\n        return\n\n\ndef make(name: str):\n    kind = KINDS[name]\n    return kind()\n",
    },
    calls: ["flow > Answer.ok2", "make > Answer", "make > Ask"],
  },
  {
    title: "Go: the same interface under opposite build tags",
    files: {
      "go.mod": "module x\n\ngo 1.22\n",
      "a.go":
        "//go:build !small\n\npackage x\n\ntype Checker interface{ Check2(v any) error }\n\nvar Default Checker\n\nfunc Run(v any) error { return Default.Check2(v) }\n",
      "b.go":
        "//go:build small\n\npackage x\n\ntype Checker interface{ Check2(v any) error }\n\nvar Default Checker\n\nfunc Run(v any) error { return Default.Check2(v) }\n",
    },
    calls: ["Run > Checker.Check2 @ a.go:9", "Run > Checker.Check2 @ b.go:9"],
  },
  {
    title: "Go: a declaration whose left side is no name loses nothing else of its file",
    files: { "a.go": 'package x\n\nfunc ok2() {}\n\nfunc g() {\n\tf("(") := 1\n\tok2()\n}\n' },
    calls: ["g > ok2"],
  },
];
