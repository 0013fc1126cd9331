/** Cases: parameters of callbacks, whose types come from the function that the callback is passed to. */
import { type Case, createDepotCase } from "./case.ts";

const HANDLE = "type Handle = (parcel: Parcel) => void;\n";
const ONE = "depot.send('a', (parcel) => parcel.stamp('x'));";

export const CALLBACKS: readonly Case[] = [
  createDepotCase("one call signature", `${HANDLE}interface Send { (to: string, h: Handle): Depot }`, ONE),
  createDepotCase(
    "signatures of different length",
    `${HANDLE}interface Send { (h: Handle): Depot; (to: string, h: Handle): Depot }`,
    ONE,
  ),
  createDepotCase(
    "signatures of the same length, told apart by text or function",
    `${HANDLE}interface Send { (one: Handle, two: Handle): Depot; (to: string, h: Handle): Depot }`,
    ONE,
  ),
  createDepotCase(
    "a generic alias",
    "type Handle<T = any> = (parcel: Parcel) => T;\ninterface Send { <T>(to: string, h: Handle<T>): Depot }",
    ONE,
  ),
  createDepotCase(
    "a union of function types",
    "type Now = (parcel: Parcel) => void;\ntype Later = (parcel: Parcel) => Promise<void>;\ninterface Send { (to: string, h: Now | Later): Depot }",
    ONE,
  ),
  createDepotCase("a rest parameter", `${HANDLE}interface Send { (to: string, ...all: Handle[]): Depot }`, ONE),
  createDepotCase(
    "a rest parameter of a tuple",
    `type Count = (n: string) => void;\n${HANDLE}interface Send { (to: string, ...all: [Count, Handle]): Depot }`,
    "depot.send('a', (n) => n.trim(), (parcel) => parcel.weight());",
    ["main > Parcel.weight"],
  ),
  createDepotCase(
    "several handlers, one signature for each number of them",
    `${HANDLE}interface Send { (to: string, a: Handle): Depot; (to: string, a: Handle, b: Handle): Depot }`,
    "depot.send('a', (p) => p.weight(), (p) => p.stamp('x'));",
    ["main > Parcel.weight", "main > Parcel.stamp"],
  ),
  {
    title: "a signature of a type literal, of an arrow type and of a constant's type",
    files: {
      "a.ts":
        "export class Pen { draw() {} }\ntype Use = (pen: Pen) => void;\ninterface With { (use: Use): void }\nexport class Desk { lit!: { (use: Use): void }; arrow!: (use: Use) => void }\nexport declare const free: With;\nexport function one(d: Desk) { d.lit((pen) => pen.draw()); }\nexport function two(d: Desk) { d.arrow((pen) => pen.draw()); }\nexport function three() { free((pen) => pen.draw()); }\n",
    },
    calls: ["one > Pen.draw", "two > Pen.draw", "three > Pen.draw"],
  },
  {
    title: "methods: overloads, unions, rests and bounded type parameters",
    files: {
      "a.ts":
        "export class Pen { draw() {} }\ntype Use = (pen: Pen) => void;\nexport class Desk {\n  over(a: Use, b: Use): void;\n  over(a: string, b: Use): void;\n  over(...a: any[]): void {}\n  either(use: Use | ((pen: Pen) => Promise<void>)) {}\n  rest(...all: Use[]) {}\n  bound<F extends Use>(f: F): F { return f; }\n}\nexport function one(d: Desk) { d.over('x', (pen) => pen.draw()); }\nexport function two(d: Desk) { d.either((pen) => pen.draw()); }\nexport function three(d: Desk) { d.rest((pen) => pen.draw()); }\nexport function four(d: Desk) { d.bound((pen) => pen.draw()); }\n",
    },
    calls: ["one > Pen.draw", "two > Pen.draw", "three > Pen.draw", "four > Pen.draw"],
  },
  {
    title: "a handler that a second call takes, typed by what the first one was given",
    files: {
      "a.ts":
        "export class Pen { draw() {} }\nexport class Brush { draw() {} }\ninterface Tool<S> { allow?: () => boolean; handle: (args: { pen: Pen; input: S }) => unknown; input?: S }\nexport const define = <S>(args: Omit<Tool<S>, 'handle'>): { handle: (fn: Tool<S>['handle']) => Tool<S> } => ({\n  handle: (fn) => ({ ...args, handle: fn }) as Tool<S>,\n});\nexport const drawing = define({ allow: () => true, input: 1 }).handle(({ pen }) => {\n  const own = pen;\n  return own.draw();\n});\n",
    },
    calls: ["drawing > define", "drawing > Pen.draw"],
    not: ["drawing > Brush.draw"],
  },
  {
    title: "a generic class filled by the type parameters of the signature, inherited and exported under another name",
    files: {
      "base.ts":
        "export class View<E, P extends string = string> { show() {} }\ntype Render<E, P extends string> = (view: View<E, P>, next: () => void) => void;\ntype RenderLater<E, P extends string> = (view: View<E, P>) => Promise<void>;\ntype Any<E, P extends string> = Render<E, P> | RenderLater<E, P>;\ninterface On<E> { <P extends string, E2 = E>(h: Any<E2, P>): Base<E>; <P extends string, E2 = E>(path: P, h: Any<E2, P>): Base<E> }\nclass Base<E = object> { on!: On<E> }\nexport { Base as PageBase };\n",
      "page.ts": "import { PageBase } from './base';\nexport class Page<E = object> extends PageBase<E> {}\n",
      "index.ts": "export { Page } from './page';\n",
      "use.ts":
        "import { Page } from './index';\nexport const page = new Page<{ n: number }>();\npage.on('/', (view) => view.show());\npage.on((view) => view.show());\n",
    },
    calls: ["use.ts > View.show @ use.ts:3", "use.ts > View.show @ use.ts:4", "use.ts > Base.on @ use.ts:3"],
  },
  {
    title: "a callback for a bounded type parameter of a function",
    files: {
      "a.ts":
        "export class Job { run2() {} }\ntype Work = (job: Job) => void;\nexport function work<W extends Work>(w: W): W { return w; }\n",
      "use.ts": "import { work } from './a';\nexport const w = work((job) => job.run2());\n",
    },
    calls: ["w > Job.run2"],
  },
  {
    title: "generic constants, handlers in objects, and constants of a function type",
    files: {
      "a.ts":
        "export class Out { write2(x: unknown): Out { return this; } }\ntype Mw<E, R = string> = (out: Out, next: () => Promise<void>) => Promise<R | void>;\nexport const wrap = <E = any, R = void>(m: Mw<E, R extends void ? string : R>): Mw<E, R extends void ? string : R> => m;\ninterface Opts { url: string; handler: (q: string, out: Out) => void }\nexport class App { add(o: Opts): App { return this; } }\nexport type Handler<T = unknown> = (this: T, q: string, out: Out) => void | Promise<T>;\n",
      "use.ts":
        "import { App, type Handler, wrap } from './a';\nexport const m = wrap(async (out, next) => { out.write2(1); await next(); });\nexport function main(app: App) {\n  app.add({ url: 'a', handler: (q, out) => { out.write2(2); } });\n  app.add({ url: 'b', handler(q, out) { out.write2(3); } });\n}\nexport const h: Handler = (q, out) => { out.write2(4); };\n",
    },
    calls: ["m > Out.write2", "handler > Out.write2 @ use.ts:4", "handler > Out.write2 @ use.ts:5", "h > Out.write2"],
  },
  {
    title: "plugins: a generic interface with overloads gives the instance itself",
    files: {
      "a.d.ts":
        "export interface Kit<L = unknown> { get2(p: string): Kit<L>; plug: Plug<Kit<L>> }\ntype Sync<O, L> = (kit: Kit<L>, o: O, done: () => void) => void;\ntype Async<O, L> = (kit: Kit<L>, o: O) => Promise<void>;\nexport interface Plug<T = void> {\n  <L = unknown>(p: Sync<object, L>): T;\n  <O extends object, L = unknown>(p: Sync<O, L>, o?: O): T;\n  <O extends object, L = unknown>(p: Async<O, L>, o?: O): T;\n}\nexport function make(): Kit;\n",
      "use.ts":
        "import { make } from './a';\nexport function main() {\n  const kit = make();\n  kit.plug((one, o, done) => { one.get2('x'); done(); });\n  kit.plug(async (two, o) => { two.get2('y'); }, { n: 1 });\n}\n",
    },
    calls: ["main > Kit.get2 @ use.ts:4", "main > Kit.get2 @ use.ts:5", "main > Kit.plug @ use.ts:4"],
  },
  {
    title: "plugins within plugins in CommonJS, with declarations",
    files: {
      "package.json": '{"name":"rig","main":"rig.js","types":"rig.d.ts"}',
      "rig.d.ts":
        "declare namespace rig {\n  interface App { on2(p: string, h: (q: string, out: Out) => void): App; plug: Plug<App> }\n  interface Out { send2(x: unknown): Out }\n  type Plugin<O> = (app: App, o: O, done: () => void) => void;\n  interface Plug<T> { (p: Plugin<object>): T; <O extends object>(p: Plugin<O>, o: O): T }\n}\ndeclare function rig(): rig.App;\nexport = rig\n",
      "rig.js": "'use strict'\nfunction rig () { return { on2 () {}, plug () {} } }\nmodule.exports = rig\n",
      "test/a.js":
        "const Rig = require('..')\nfunction main () {\n  const app = Rig()\n  app.plug(function (one, o, done) {\n    one.on2('x', (q, out) => out.send2(1))\n    one.plug((two) => { two.on2('y', () => {}) })\n  })\n}\nmain()\n",
    },
    calls: [
      "main > App.plug @ test/a.js:4",
      "main > App.on2 @ test/a.js:5",
      "main > Out.send2 @ test/a.js:5",
      "main > App.plug @ test/a.js:6",
      "main > App.on2 @ test/a.js:6",
    ],
  },
  {
    title: "a generic method whose options inherit the handler, in JavaScript",
    files: {
      "kit.d.ts":
        "export interface Out<R = unknown> { send2(x: unknown): Out<R>; code2(n: number): Out<R> }\nexport type Handler<R = unknown> = (this: App<R>, q: string, out: Out<R>) => void | Promise<R>;\nexport interface Short<R = unknown> { before?: Handler<R> }\nexport interface Opts<R = unknown> extends Short<R> { url: string; handler: Handler<R> }\nexport interface App<L = unknown> { add<R = unknown, const S extends object = object>(o: Opts<R>): App<L> }\nexport declare function kit(): App;\n",
      "kit.js": "exports.kit = function kit () {}\n",
      "a.test.js":
        "const { kit } = require('./kit')\nconst app = kit()\napp.add({ url: '/a', handler: (q, out) => { out.send2(1) } })\napp.add({ url: '/b', handler (q, out) { out.code2(2) } })\n",
    },
    calls: ["handler > Out.send2 @ a.test.js:3", "handler > Out.code2 @ a.test.js:4"],
  },
];
