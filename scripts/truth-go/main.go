// Prints the targets of a folder's calls according to go/types, as JSON lines for scripts/truth-calls.ts.
//
//	go run scripts/truth-go/main.go PATH > calls.jsonl
//
// A line is {"path", "line", "name", "to": [{"path", "line", "name"}]}. "to" is empty for a call of something outside the
// folder, and "value" is true if a variable or field is called. A call without an answer has no line. Packages that the
// folder imports but does not contain are treated as empty, so calls that depend on their types have no answer.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

type place struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Name string `json:"name"`
}

type call struct {
	place
	To    []place `json:"to"`
	Value bool    `json:"value,omitempty"`
}

// folder holds a Go package's files: its own with their tests (files), and those of its external test package (beside).
type folder struct {
	dir, path     string
	files, beside []*ast.File
}

type loader struct {
	root     string
	fset     *token.FileSet
	folders  map[string]*folder // by import path
	packages map[string]*types.Package
	standard types.Importer
	info     *types.Info
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// Import implements types.Importer: the folder's own packages, the standard library, else an empty package.
func (l *loader) Import(path string) (*types.Package, error) {
	if known, ok := l.packages[path]; ok {
		return known, nil
	}
	if found, ok := l.folders[path]; ok {
		l.packages[path] = types.NewPackage(path, "cycle")
		l.packages[path] = l.check(path, found.files)
		return l.packages[path], nil
	}
	if !strings.Contains(strings.SplitN(path, "/", 2)[0], ".") {
		if known, err := l.standard.Import(path); err == nil {
			return known, nil
		}
	}
	name := path[strings.LastIndex(path, "/")+1:]
	if regexp.MustCompile(`^v\d+$`).MatchString(name) {
		name = filepath.Base(filepath.Dir(path))
	}
	empty := types.NewPackage(path, name)
	empty.MarkComplete()
	l.packages[path] = empty
	return empty, nil
}

func (l *loader) check(path string, files []*ast.File) *types.Package {
	config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true}
	checked, _ := config.Check(path, l.fset, files, l.info)
	return checked
}

func (l *loader) read() error {
	modules := map[string]string{}
	return filepath.Walk(l.root, func(dir string, info os.FileInfo, err error) error {
		if err != nil || !info.IsDir() {
			return err
		}
		if base := info.Name(); dir != l.root && (base == "vendor" || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return filepath.SkipDir
		}
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if found := moduleLine.FindSubmatch(text); found != nil {
				modules[dir] = string(found[1])
			}
		}
		l.readFolder(dir, importPathOf(dir, l.root, modules))
		return nil
	})
}

func importPathOf(dir, root string, modules map[string]string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if module, ok := modules[at]; ok {
			rest, _ := filepath.Rel(at, dir)
			return strings.TrimSuffix(module+"/"+filepath.ToSlash(rest), "/.")
		}
		if at == root || at == "/" {
			return "folder.local/" + filepath.ToSlash(strings.TrimPrefix(dir, root))
		}
	}
}

func (l *loader) readFolder(dir, path string) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	found := &folder{dir: dir, path: path}
	for _, name := range names {
		if match, err := build.Default.MatchFile(dir, filepath.Base(name)); err != nil || !match {
			continue
		}
		file, err := parser.ParseFile(l.fset, name, nil, parser.SkipObjectResolution)
		if file == nil || err != nil {
			continue
		}
		if strings.HasSuffix(file.Name.Name, "_test") && strings.HasSuffix(name, "_test.go") {
			found.beside = append(found.beside, file)
		} else {
			found.files = append(found.files, file)
		}
	}
	if len(found.files)+len(found.beside) > 0 {
		l.folders[path] = found
	}
}

func (l *loader) placeOf(object types.Object) (place, bool) {
	position := l.fset.Position(object.Pos())
	path, err := filepath.Rel(l.root, position.Filename)
	if err != nil || strings.HasPrefix(path, "..") || position.Filename == "" {
		return place{}, false
	}
	return place{filepath.ToSlash(path), position.Line, object.Name()}, true
}

// calleeOf returns the name that is called, without parentheses and type arguments.
func calleeOf(expression ast.Expr) *ast.Ident {
	switch e := expression.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.ParenExpr:
		return calleeOf(e.X)
	case *ast.IndexExpr:
		return calleeOf(e.X)
	case *ast.IndexListExpr:
		return calleeOf(e.X)
	}
	return nil
}

func (l *loader) report(file *ast.File, out *json.Encoder) {
	ast.Inspect(file, func(node ast.Node) bool {
		found, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := calleeOf(found.Fun)
		if name == nil {
			return true
		}
		var object types.Object = l.info.Uses[name]
		if object == nil {
			return true
		}
		if variable, ok := object.(*types.Var); ok && variable.Type() == types.Typ[types.Invalid] {
			return true
		}
		position := l.fset.Position(name.Pos())
		path, _ := filepath.Rel(l.root, position.Filename)
		answer := call{place: place{filepath.ToSlash(path), position.Line, name.Name}, To: []place{}}
		switch object := object.(type) {
		case *types.Func:
			if at, ok := l.placeOf(object.Origin()); ok {
				answer.To = append(answer.To, at)
			}
		case *types.Var:
			answer.Value = true
			if at, ok := l.placeOf(object); ok {
				answer.To = append(answer.To, at)
			}
		}
		_ = out.Encode(answer)
		return true
	})
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: truth-go PATH")
		os.Exit(2)
	}
	root, err := filepath.EvalSymlinks(os.Args[1])
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	build.Default.CgoEnabled = false
	fset := token.NewFileSet()
	l := &loader{
		root: root, fset: fset, folders: map[string]*folder{}, packages: map[string]*types.Package{},
		standard: importer.ForCompiler(fset, "source", nil),
		info:     &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}},
	}
	if err := l.read(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	paths := make([]string, 0, len(l.folders))
	for path := range l.folders {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	out := json.NewEncoder(os.Stdout)
	for _, path := range paths {
		found := l.folders[path]
		_, _ = l.Import(path)
		if len(found.beside) > 0 {
			l.check(path+"_test", found.beside)
		}
		for _, file := range append(append([]*ast.File{}, found.files...), found.beside...) {
			l.report(file, out)
		}
	}
}
