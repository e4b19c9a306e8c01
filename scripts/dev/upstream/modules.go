package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// modules are the two unpacked modules and the packages that have been read so far.
type modules struct {
	api          string
	apimachinery string
	packages     map[string]*goPackage
}

// download asks the Go module proxy for both modules in one version.
func download(version string) (*modules, error) {
	api, err := unpacked("k8s.io/api@" + version)
	if err != nil {
		return nil, err
	}
	apimachinery, err := unpacked("k8s.io/apimachinery@" + version)
	if err != nil {
		return nil, err
	}
	return &modules{api: api, apimachinery: apimachinery, packages: map[string]*goPackage{}}, nil
}

// unpacked is the folder of a module in the module cache.
func unpacked(module string) (string, error) {
	out, failure := exec.Command("go", "mod", "download", "-json", module).Output()
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return "", fmt.Errorf("go mod download %s: %v", module, failure)
	}
	if answer.Error != "" {
		return "", fmt.Errorf("go mod download %s: %s", module, answer.Error)
	}
	return answer.Dir, nil
}

// load reads a package once. The name is that of its OpenAPI components: io.k8s.api.core.v1.
func (m *modules) load(name string) (*goPackage, error) {
	if p := m.packages[name]; p != nil {
		return p, nil
	}
	var folder string
	if below, ok := strings.CutPrefix(name, "io.k8s.apimachinery."); ok {
		folder = filepath.Join(m.apimachinery, strings.ReplaceAll(below, ".", "/"))
	} else if below, ok := strings.CutPrefix(name, "io.k8s.api."); ok {
		folder = filepath.Join(m.api, strings.ReplaceAll(below, ".", "/"))
	} else {
		return nil, fmt.Errorf("%s belongs to neither module", name)
	}
	p, err := readPackage(name, folder)
	if err != nil {
		return nil, err
	}
	m.packages[name] = p
	return p, nil
}

// packageOfImport turns k8s.io/api/core/v1 into io.k8s.api.core.v1.
func packageOfImport(path string) string {
	return "io.k8s." + strings.ReplaceAll(strings.TrimPrefix(path, "k8s.io/"), "/", ".")
}
