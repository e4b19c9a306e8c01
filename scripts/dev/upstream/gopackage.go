package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// goPackage is what the sources of one package state.
type goPackage struct {
	name     string
	messages map[string][]protoField
	types    map[string]*goType
	// values of constants; of a typed constant its type stands in constantTypes
	constants     map[string]string
	constantTypes map[string]string
	// constants in the order of their declaration
	constantNames []string
}

// goType is the declaration of a type with the imports of its file.
type goType struct {
	name    string
	expr    ast.Expr
	markers markers
	imports map[string]string
}

// markers are the comment lines that start with +, by name; a name can stand more than once.
type markers map[string][]string

func (m markers) has(name string) bool { return len(m[name]) > 0 }

// one is the value of a marker that stands at most once; "" when absent.
func (m markers) one(name string) string {
	if len(m[name]) == 0 {
		return ""
	}
	return m[name][0]
}

// readPackage parses all sources of a folder except tests and generated ones, and generated.proto.
func readPackage(name, folder string) (*goPackage, error) {
	messages, err := readProto(name, folder)
	if err != nil {
		return nil, err
	}
	p := &goPackage{name: name, messages: messages, types: map[string]*goType{}, constants: map[string]string{}, constantTypes: map[string]string{}}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		file := entry.Name()
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".pb.go") || strings.HasPrefix(file, "zz_") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, file), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.add(parsed)
	}
	return p, nil
}

func (p *goPackage) add(file *ast.File) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = path
	}
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				p.types[spec.Name.Name] = &goType{
					name:    spec.Name.Name,
					expr:    spec.Type,
					markers: markersOf(general.Doc, spec.Doc),
					imports: imports,
				}
			case *ast.ValueSpec:
				p.addConstant(general, spec)
			}
		}
	}
}

func (p *goPackage) addConstant(general *ast.GenDecl, spec *ast.ValueSpec) {
	if general.Tok != token.CONST {
		return
	}
	for i, name := range spec.Names {
		if i >= len(spec.Values) {
			continue
		}
		literal, ok := spec.Values[i].(*ast.BasicLit)
		if !ok {
			continue
		}
		p.constants[name.Name] = literal.Value
		p.constantNames = append(p.constantNames, name.Name)
		if named, ok := spec.Type.(*ast.Ident); ok {
			p.constantTypes[name.Name] = named.Name
		}
	}
}

// enumOf is the closed set of a string type that carries +enum, in the order of declaration; nil for other types.
func (p *goPackage) enumOf(t *goType) ([]string, error) {
	if !t.markers.has("enum") {
		return nil, nil
	}
	values := []string{}
	for _, name := range p.constantNames {
		if p.constantTypes[name] != t.name {
			continue
		}
		value, err := strconv.Unquote(p.constants[name])
		if err != nil {
			return nil, fmt.Errorf("constant %s: %w", name, err)
		}
		values = append(values, value)
	}
	return values, nil
}

// markersOf collects the markers of the comments that document a declaration.
func markersOf(groups ...*ast.CommentGroup) markers {
	found := markers{}
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
			if !strings.HasPrefix(text, "+") {
				continue
			}
			name, value, _ := strings.Cut(text[1:], "=")
			found[name] = append(found[name], strings.TrimSpace(value))
		}
	}
	return found
}
