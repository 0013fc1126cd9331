/**
 * Code that is called without being named is not reported as dead. The cases resemble real-world programs in each
 * language.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { createSourceTree } from "../../../testing/source-tree.ts";
import { createGraphSession } from "../../serve/session.ts";

setDefaultTimeout(300_000);

const FILES = {
  "web/app.ts":
    'import { createServer, Node } from "outside";\nconst options = { onClose() {}, retry: () => 3 };\ncreateServer(options, { handle: () => {} });\nexport class Leaf extends Node {\n  paint() {}\n}\nexport class Timer {\n  stop() {}\n  start() { createServer("end", this.stop); createServer({ enter: this.enter }, [this.each]); Node.leave = this.leave; return this.later; }\n  enter() {}\n  each() {}\n  leave() {}\n  later() {}\n  reset() {}\n}\nnew Timer().start();\nnew Leaf();\nconst spare = () => 1;\ndeclare module "outside" {\n  interface Registered { app: string }\n}\n',
  "web/button.tsx":
    'import { Component } from "outside";\nexport class Button extends Component {\n  save() {}\n}\nclass Panel {\n  save() {}\n  draw() { return <Button onClick={this.save} />; }\n}\nnew Panel().draw();\n',
  "shape.rs":
    "pub struct Shape { side: u32 }\nimpl std::fmt::Display for Shape {\n    fn width(&self) -> u32 { 1 }\n}\nimpl Shape {\n    fn area(&self) -> u32 { self.side }\n    fn corner(&self) -> u32 { self.side }\n    fn edge(&self) -> u32 { self.side }\n}\nstruct Tool { run: fn(&Shape) -> u32 }\ntrait Named {\n    fn label(&self) -> u32 { 2 }\n}\nimpl Named for Shape {}\nfn main() {\n    let all = vec![Shape { side: 1 }];\n    all.iter().map(Shape::area).sum::<u32>();\n    drop(Tool { run: Shape::edge });\n}\nmod tests {\n    fn sample() {}\n}\n",
  "port/port_linux.go":
    'package port\n\ntype Port struct{}\n\ntype opener interface{ openAll() }\n\nfunc (Port) openAll() {}\nfunc (Port) String() string { return name() }\nfunc (Port) rename() {}\nfunc (Port) Name() string { return name() }\nfunc main() { var all opener = Port{}; all.openAll(); print(Entry{}) }\nfunc (Entry) IsDir() bool { return false }\nfunc name() string { return "linux" }\n',
  "port/port_other.go":
    'package port\n\nfunc name() string { return "other" }\n\ntype Entry struct{}\n\nfunc (Entry) Name() string { return name() }\nfunc (Entry) clone() {}\n\ntype route struct{ do func() }\n\nfunc (Entry) serve() {}\nfunc (Entry) list() {}\nfunc (Entry) show() {}\nfunc routes(e Entry) func() { all := []func(){e.list}; print(route{do: e.serve}, all); return e.show }\nfunc init() { routes(Entry{}) }\n',
  "Ship.java":
    "class Ship implements Comparable<Ship> {\n  private Ship() {}\n  public int compareTo(Ship other) { return 0; }\n}\nclass Dock {\n  static void main(String[] all) { Object o = Ship.class; }\n  private void sink() {}\n}\n",
  "Window.cs":
    "class Window {\n  public System.Action Closed;\n  static void Main() { new Window().Open(); }\n  void Open() { Closed += this.OnClosed; System.Action first = this.OnFirst; }\n  void OnClosed() {}\n  void OnFirst() {}\n  void Spare() {}\n}\n",
  "Json.Tests/Reader.cs": "namespace Json.Tests { class Reader { void Check() {} } }\n",
  "loader.py":
    "import tool\n\nclass Loader(tool.Base):\n    def get_source(self):\n        return 1\n\nprint(Loader())\n\nclass Menu:\n    def __init__(self):\n        self.first = self.open\n        self.all = {1: self.shut, 2: [self.rest]}\n    def open(self):\n        return self.again\n    def shut(self): pass\n    def rest(self): pass\n    def again(self): pass\n    def forgotten(self): pass\n\nprint(Menu())\n\ndef unused():\n    return 2\n",
};

test("dead code has what nothing reaches, and nothing that is called through an object, a trait, an interface or a parent", async () => {
  const tree = createSourceTree(FILES);
  const session = createGraphSession({ root: tree.root, store: tree.store });
  try {
    await session.index({ force: false });
    const found = session.ask({ question: "dead_code", limit: 50 });
    if (found.found !== "one") throw new Error(found.found);
    const names = found.answer.groups.flatMap(({ entries }) => entries.map(({ symbol }) => symbol.qualified_name));
    expect(names.sort()).toEqual(
      "Dock.sink Entry.clone Menu.forgotten Port.Name Port.rename Shape.corner Timer.reset Window.Spare spare unused".split(
        " ",
      ),
    );
  } finally {
    session.close();
    tree.remove();
  }
});
