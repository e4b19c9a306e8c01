// Upstream prints the facts about the served messages that the modules k8s.io/api and k8s.io/apimachinery of one version state:
// field numbers, types, presence, list semantics, enums and defaults. The table covers the kinds below and all that they reach.
//
//	cd scripts/dev/upstream && go run . v0.36.6 > ../../test/fixtures/upstream/kubernetes-1.36.tsv
//
// The Go module proxy delivers the modules. Exit code 1: a module cannot be had, or its two descriptions of a message disagree.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"
)

// roots are the served kinds, by the name of their OpenAPI component.
var roots = []string{
	"io.k8s.api.authentication.v1.SelfSubjectReview",
	"io.k8s.api.authentication.v1.TokenRequest",
	"io.k8s.api.authentication.v1.TokenReview",
	"io.k8s.api.authorization.v1.LocalSubjectAccessReview",
	"io.k8s.api.authorization.v1.SelfSubjectAccessReview",
	"io.k8s.api.authorization.v1.SelfSubjectRulesReview",
	"io.k8s.api.authorization.v1.SubjectAccessReview",
	"io.k8s.api.coordination.v1.Lease",
	"io.k8s.api.core.v1.Binding",
	"io.k8s.api.core.v1.ConfigMap",
	"io.k8s.api.core.v1.Endpoints",
	"io.k8s.api.core.v1.Event",
	"io.k8s.api.core.v1.Namespace",
	"io.k8s.api.core.v1.Node",
	"io.k8s.api.core.v1.Pod",
	"io.k8s.api.core.v1.PodTemplate",
	"io.k8s.api.core.v1.ResourceQuota",
	"io.k8s.api.core.v1.Secret",
	"io.k8s.api.core.v1.Service",
	"io.k8s.api.core.v1.ServiceAccount",
	"io.k8s.api.discovery.v1.EndpointSlice",
	"io.k8s.api.events.v1.Event",
	"io.k8s.api.networking.v1.IPAddress",
	"io.k8s.api.networking.v1.ServiceCIDR",
	"io.k8s.api.policy.v1.Eviction",
	"io.k8s.api.rbac.v1.ClusterRole",
	"io.k8s.api.rbac.v1.ClusterRoleBinding",
	"io.k8s.api.rbac.v1.Role",
	"io.k8s.api.rbac.v1.RoleBinding",
	"io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Status",
}

const heading = `# Facts about Kubernetes API messages, extracted by scripts/dev/upstream from k8s.io/api and k8s.io/apimachinery %s.
# Sources: generated.proto and the types of each package. Regenerate the file; do not edit it.
# A message starts a line: its name, then "kind" (it carries kind and apiVersion) and "atomic" (+structType) where they apply.
# Its fields follow, indented: JSON name, protobuf number (0 = not in protobuf), type, presence, and further facts.
# Presence: pointer, omitempty, always (stands in JSON even when zero), inline (its members stand in the enclosing object).
# Further facts: required (OpenAPI), list=, keys= (+listMapKey), map= (+mapType), struct= (+structType), strategy=, mergeKey=, enum=, default=.
`

func main() {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], "v0.") {
		fmt.Fprintln(os.Stderr, "usage: go run . v0.MINOR.PATCH (a version of k8s.io/api, for example v0.36.6)")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(version string) error {
	modules, err := download(version)
	if err != nil {
		return err
	}
	found := map[string]*message{}
	pending := append([]string{}, roots...)
	for len(pending) > 0 {
		name := pending[0]
		pending = pending[1:]
		if found[name] != nil {
			continue
		}
		m, err := modules.message(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found[name] = m
		pending = append(pending, m.reaches...)
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	sort.Strings(names)
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(out, heading, version)
	for _, name := range names {
		found[name].print(out)
	}
	return out.Flush()
}
