package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// protoField is one field of generated.proto.
type protoField struct {
	name     string
	number   int
	repeated bool
	isMap    bool
	// scalar of protobuf, or the name of an OpenAPI component; of a map the type of its values
	of string
}

var (
	messageLine = regexp.MustCompile(`^message (\w+) \{`)
	fieldLine   = regexp.MustCompile(`^\s+(optional|repeated) (\S+) (\w+) = (\d+);`)
	mapLine     = regexp.MustCompile(`^\s+map<string, (\S+)> (\w+) = (\d+);`)
)

// readProto reads the messages of a package's generated.proto, by name.
func readProto(packageName, folder string) (map[string][]protoField, error) {
	text, err := os.ReadFile(filepath.Join(folder, "generated.proto"))
	if err != nil {
		return nil, err
	}
	messages := map[string][]protoField{}
	current := ""
	for line := range strings.Lines(string(text)) {
		if match := messageLine.FindStringSubmatch(line); match != nil {
			current = match[1]
			messages[current] = []protoField{}
		} else if match := fieldLine.FindStringSubmatch(line); match != nil {
			number, _ := strconv.Atoi(match[4])
			field := protoField{name: match[3], number: number, repeated: match[1] == "repeated", of: protoType(packageName, match[2])}
			messages[current] = append(messages[current], field)
		} else if match := mapLine.FindStringSubmatch(line); match != nil {
			number, _ := strconv.Atoi(match[3])
			messages[current] = append(messages[current], protoField{name: match[2], number: number, isMap: true, of: protoType(packageName, match[1])})
		} else if strings.HasPrefix(line, " ") && !strings.HasPrefix(strings.TrimSpace(line), "//") && strings.Contains(line, "=") {
			return nil, fmt.Errorf("generated.proto of %s: cannot read %q", packageName, line)
		}
	}
	return messages, nil
}

var protoScalars = map[string]bool{"string": true, "bool": true, "int32": true, "int64": true, "bytes": true}

// protoType is a scalar, or the OpenAPI name of a message that generated.proto names absolutely or within its own package.
func protoType(packageName, name string) string {
	if protoScalars[name] {
		return name
	}
	if absolute, ok := strings.CutPrefix(name, ".k8s.io."); ok {
		return "io.k8s." + absolute
	}
	return packageName + "." + name
}
