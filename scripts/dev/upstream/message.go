package main

import (
	"fmt"
	"go/ast"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// message is one API message as the table states it.
type message struct {
	name   string
	isKind bool
	atomic bool
	fields []field
	// names of the messages that its fields hold
	reaches []string
}

// field is one line of the table.
type field struct {
	name     string
	number   int
	typeName string
	presence string
	facts    []string
}

// scalars are messages on the wire that the table names by their last part: they have forms of their own in JSON.
var scalars = map[string]string{
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":       "Time",
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":  "MicroTime",
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":   "FieldsV1",
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   "Quantity",
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
}

// message reads one message from both descriptions: the Go struct and generated.proto.
func (m *modules) message(name string) (*message, error) {
	dot := strings.LastIndex(name, ".")
	p, err := m.load(name[:dot])
	if err != nil {
		return nil, err
	}
	onWire, known := p.messages[name[dot+1:]]
	declared := p.types[name[dot+1:]]
	if !known || declared == nil {
		return nil, fmt.Errorf("no message and Go type of this name")
	}
	structure, ok := declared.expr.(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("not a struct")
	}
	result := &message{name: name, atomic: declared.markers.one("structType") == "atomic"}
	byProtoName := map[string]protoField{}
	for _, f := range onWire {
		byProtoName[f.name] = f
	}
	for _, member := range structure.Fields.List {
		if isTypeMeta(member) {
			result.isKind = true
			continue
		}
		f, err := m.field(p, declared, member, byProtoName, result)
		if err != nil {
			return nil, err
		}
		if f != nil {
			result.fields = append(result.fields, *f)
		}
	}
	for left := range byProtoName {
		return nil, fmt.Errorf("field %s of generated.proto is not in the Go struct", left)
	}
	return result, nil
}

func isTypeMeta(member *ast.Field) bool {
	selector, ok := member.Type.(*ast.SelectorExpr)
	if ok {
		return selector.Sel.Name == "TypeMeta"
	}
	name, ok := member.Type.(*ast.Ident)
	return ok && name.Name == "TypeMeta"
}

// field reads one member of a Go struct and takes its field of generated.proto out of onWire; nil = the member is in neither form.
func (m *modules) field(p *goPackage, in *goType, member *ast.Field, onWire map[string]protoField, result *message) (*field, error) {
	text, err := strconv.Unquote(member.Tag.Value)
	if err != nil {
		return nil, err
	}
	tag := reflect.StructTag(text)
	jsonName, jsonOptions, _ := strings.Cut(tag.Get("json"), ",")
	protoName := protoNameOf(tag.Get("protobuf"), member)
	wire, found := onWire[protoName]
	if !found {
		return nil, fmt.Errorf("member %s%s has no field in generated.proto", jsonName, protoName)
	}
	delete(onWire, protoName)
	f := &field{name: jsonName, number: wire.number}
	if jsonName == "" {
		f.name = protoName
	}
	marks := markersOf(member.Doc)
	expr, isPointer := member.Type, false
	if star, ok := expr.(*ast.StarExpr); ok {
		expr, isPointer = star.X, true
	}
	omit := strings.Contains(jsonOptions, "omitempty") || strings.Contains(jsonOptions, "omitzero")
	switch {
	case jsonName == "":
		f.presence = "inline"
	case isPointer:
		f.presence = "pointer"
	case omit:
		f.presence = "omitempty"
	default:
		f.presence = "always"
	}
	if isPointer && !omit && jsonName != "" {
		f.facts = append(f.facts, "null")
	}
	if f.typeName, err = m.typeName(wire, result); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	if f.presence != "inline" && !marks.has("optional") && (marks.has("required") || !omit) {
		f.facts = append(f.facts, "required")
	}
	facts, err := m.typeFacts(p, in, expr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	for _, marker := range []struct{ name, label string }{{"listType", "list"}, {"mapType", "map"}, {"structType", "struct"}} {
		if value := marks.one(marker.name); value != "" {
			f.facts = append(f.facts, marker.label+"="+value)
		} else if value := facts.markers.one(marker.name); value != "" && marker.name != "structType" {
			f.facts = append(f.facts, marker.label+"="+value)
		}
	}
	if keys := marks["listMapKey"]; len(keys) > 0 {
		f.facts = append(f.facts, "keys="+strings.Join(keys, ","))
	}
	if strategy := tag.Get("patchStrategy"); strategy != "" {
		f.facts = append(f.facts, "strategy="+strategy)
	}
	if key := tag.Get("patchMergeKey"); key != "" {
		f.facts = append(f.facts, "mergeKey="+key)
	}
	if len(facts.enum) > 0 {
		f.facts = append(f.facts, "enum="+strings.Join(facts.enum, ","))
	}
	if marks.has("default") {
		value := marks.one("default")
		if constant, ok := strings.CutPrefix(value, "ref("); ok {
			constant = strings.TrimSuffix(constant, ")")
			if value = p.constants[constant]; value == "" {
				return nil, fmt.Errorf("%s: default names no constant of the package: %s", f.name, constant)
			}
		}
		f.facts = append(f.facts, "default="+value)
	}
	return f, nil
}

// protoNameOf is the name in a tag such as bytes,1,opt,name=metadata; an embedded struct may have no name there and goes by its type.
func protoNameOf(tag string, member *ast.Field) string {
	for _, part := range strings.Split(tag, ",") {
		if name, ok := strings.CutPrefix(part, "name="); ok {
			return name
		}
	}
	if embedded, ok := member.Type.(*ast.Ident); ok && len(member.Names) == 0 {
		return strings.ToLower(embedded.Name[:1]) + embedded.Name[1:]
	}
	return ""
}

// typeName writes the type of a field as Go does, and notes the messages that it reaches.
func (m *modules) typeName(wire protoField, result *message) (string, error) {
	name, err := m.elementName(wire.of, result)
	switch {
	case err != nil:
		return "", err
	case wire.isMap:
		return "map[string]" + name, nil
	case wire.repeated:
		return "[]" + name, nil
	default:
		return name, nil
	}
}

// elementName writes the type of one element. A message whose Go type is a list (ExtraValue) is written as that list.
func (m *modules) elementName(of string, result *message) (string, error) {
	if protoScalars[of] {
		return of, nil
	}
	if scalar := scalars[of]; scalar != "" {
		return scalar, nil
	}
	dot := strings.LastIndex(of, ".")
	p, err := m.load(of[:dot])
	if err != nil {
		return "", err
	}
	declared := p.types[of[dot+1:]]
	if declared == nil {
		return "", fmt.Errorf("%s has no Go type", of)
	}
	if _, isList := declared.expr.(*ast.ArrayType); isList {
		fields := p.messages[declared.name]
		if len(fields) != 1 || !fields[0].repeated || fields[0].number != 1 {
			return "", fmt.Errorf("%s is no list of items", of)
		}
		name, err := m.elementName(fields[0].of, result)
		return "[]" + name, err
	}
	result.reaches = append(result.reaches, of)
	return of, nil
}

// typeFacts is what the declaration of a field's Go type adds to the field.
type typeFacts struct {
	markers markers
	enum    []string
}

// typeFacts finds the declaration of a type expression; of lists and maps that of their elements gives the enum.
func (m *modules) typeFacts(p *goPackage, in *goType, expr ast.Expr) (typeFacts, error) {
	switch expr := expr.(type) {
	case *ast.ArrayType:
		element, err := m.typeFacts(p, in, expr.Elt)
		return typeFacts{enum: element.enum}, err
	case *ast.MapType:
		element, err := m.typeFacts(p, in, expr.Value)
		return typeFacts{enum: element.enum}, err
	case *ast.Ident:
		declared := p.types[expr.Name]
		if declared == nil {
			return typeFacts{}, nil
		}
		enum, err := p.enumOf(declared)
		return typeFacts{markers: declared.markers, enum: enum}, err
	case *ast.SelectorExpr:
		qualifier, _ := expr.X.(*ast.Ident)
		path := in.imports[qualifier.Name]
		if !strings.HasPrefix(path, "k8s.io/") || path == "k8s.io/apimachinery/pkg/types" {
			return typeFacts{}, nil
		}
		other, err := m.load(packageOfImport(path))
		if err != nil {
			return typeFacts{}, err
		}
		return m.typeFacts(other, in, expr.Sel)
	default:
		return typeFacts{}, fmt.Errorf("a type of an unknown form: %T", expr)
	}
}

func (m *message) print(out io.Writer) {
	fmt.Fprint(out, m.name)
	if m.isKind {
		fmt.Fprint(out, "\tkind")
	}
	if m.atomic {
		fmt.Fprint(out, "\tatomic")
	}
	fmt.Fprintln(out)
	for _, f := range m.fields {
		columns := append([]string{"", f.name, strconv.Itoa(f.number), f.typeName, f.presence}, f.facts...)
		fmt.Fprintln(out, strings.Join(columns, "\t"))
	}
}
