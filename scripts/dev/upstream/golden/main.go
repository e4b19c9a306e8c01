// Golden prints objects of every served kind as Go writes them: a line for each, with its message, its JSON and its protobuf in base64.
// The objects are random and the same in each run.
//
//	cd scripts/dev/upstream/golden && go run . > ../../../test/fixtures/upstream/protobuf-1.36.tsv
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// objectsOfKind is how many objects of each kind there are.
const objectsOfKind = 2

func served() []struct {
	message string
	make    func() runtime.Object
} {
	type row = struct {
		message string
		make    func() runtime.Object
	}
	return []row{
		{"io.k8s.api.authentication.v1.SelfSubjectReview", func() runtime.Object { return &authentication.SelfSubjectReview{} }},
		{"io.k8s.api.authentication.v1.TokenRequest", func() runtime.Object { return &authentication.TokenRequest{} }},
		{"io.k8s.api.authentication.v1.TokenReview", func() runtime.Object { return &authentication.TokenReview{} }},
		{"io.k8s.api.authorization.v1.LocalSubjectAccessReview", func() runtime.Object { return &authorization.LocalSubjectAccessReview{} }},
		{"io.k8s.api.authorization.v1.SelfSubjectAccessReview", func() runtime.Object { return &authorization.SelfSubjectAccessReview{} }},
		{"io.k8s.api.authorization.v1.SelfSubjectRulesReview", func() runtime.Object { return &authorization.SelfSubjectRulesReview{} }},
		{"io.k8s.api.authorization.v1.SubjectAccessReview", func() runtime.Object { return &authorization.SubjectAccessReview{} }},
		{"io.k8s.api.coordination.v1.Lease", func() runtime.Object { return &coordination.Lease{} }},
		{"io.k8s.api.core.v1.Binding", func() runtime.Object { return &core.Binding{} }},
		{"io.k8s.api.core.v1.ConfigMap", func() runtime.Object { return &core.ConfigMap{} }},
		{"io.k8s.api.core.v1.Endpoints", func() runtime.Object { return &core.Endpoints{} }},
		{"io.k8s.api.core.v1.Event", func() runtime.Object { return &core.Event{} }},
		{"io.k8s.api.core.v1.Namespace", func() runtime.Object { return &core.Namespace{} }},
		{"io.k8s.api.core.v1.Node", func() runtime.Object { return &core.Node{} }},
		{"io.k8s.api.core.v1.Pod", func() runtime.Object { return &core.Pod{} }},
		{"io.k8s.api.core.v1.PodTemplate", func() runtime.Object { return &core.PodTemplate{} }},
		{"io.k8s.api.core.v1.ResourceQuota", func() runtime.Object { return &core.ResourceQuota{} }},
		{"io.k8s.api.core.v1.Secret", func() runtime.Object { return &core.Secret{} }},
		{"io.k8s.api.core.v1.Service", func() runtime.Object { return &core.Service{} }},
		{"io.k8s.api.core.v1.ServiceAccount", func() runtime.Object { return &core.ServiceAccount{} }},
		{"io.k8s.api.discovery.v1.EndpointSlice", func() runtime.Object { return &discovery.EndpointSlice{} }},
		{"io.k8s.api.events.v1.Event", func() runtime.Object { return &events.Event{} }},
		{"io.k8s.api.networking.v1.IPAddress", func() runtime.Object { return &networking.IPAddress{} }},
		{"io.k8s.api.networking.v1.ServiceCIDR", func() runtime.Object { return &networking.ServiceCIDR{} }},
		{"io.k8s.api.policy.v1.Eviction", func() runtime.Object { return &policy.Eviction{} }},
		{"io.k8s.api.rbac.v1.ClusterRole", func() runtime.Object { return &rbac.ClusterRole{} }},
		{"io.k8s.api.rbac.v1.ClusterRoleBinding", func() runtime.Object { return &rbac.ClusterRoleBinding{} }},
		{"io.k8s.api.rbac.v1.Role", func() runtime.Object { return &rbac.Role{} }},
		{"io.k8s.api.rbac.v1.RoleBinding", func() runtime.Object { return &rbac.RoleBinding{} }},
		{"io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", func() runtime.Object { return &meta.DeleteOptions{} }},
		{"io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata", func() runtime.Object { return &meta.PartialObjectMetadata{} }},
		{"io.k8s.apimachinery.pkg.apis.meta.v1.Status", func() runtime.Object { return &meta.Status{} }},
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	scheme := runtime.NewScheme()
	serializer := protobuf.NewSerializer(scheme, scheme)
	for i, kind := range served() {
		for n := range objectsOfKind {
			object := kind.make()
			filler(int64(1000*i + n)).Fill(object)
			object.GetObjectKind().SetGroupVersionKind(meta.SchemeGroupVersion.WithKind("X"))
			text, err := json.Marshal(object)
			if err != nil {
				return fmt.Errorf("%s: %w", kind.message, err)
			}
			var body bytes.Buffer
			if err := serializer.Encode(object, &body); err != nil {
				return fmt.Errorf("%s: %w", kind.message, err)
			}
			fmt.Printf("%s\t%s\t%s\n", kind.message, text, base64.StdEncoding.EncodeToString(body.Bytes()))
		}
	}
	return nil
}

// filler fills in what JSON and protobuf both keep.
func filler(seed int64) *randfill.Filler {
	texts := []string{"a", "web-1", "ünïcödé", "日本語", `"quoted" and \`, "line\nbreak", "😀", "a text that is longer than the forty-eight bytes of a short one"}
	quantities := []string{"100m", "1536Mi", "2", "1e3", "-5"}
	return randfill.NewWithSeed(seed).NilChance(0.6).NumElements(1, 2).MaxDepth(12).Funcs(
		func(value *string, c randfill.Continue) { *value = texts[c.Intn(len(texts))] },
		func(value *[]byte, c randfill.Continue) { *value = []byte(texts[c.Intn(len(texts))]) },
		func(value *int32, c randfill.Continue) { *value = c.Int31n(1000) - 300 },
		func(value *int64, c randfill.Continue) { *value = c.Int63n(1<<53) - 1<<51 },
		func(value *meta.Time, c randfill.Continue) {
			*value = meta.Unix(c.Int63n(1<<33)-1<<32, 0).Rfc3339Copy()
		},
		func(value *meta.MicroTime, c randfill.Continue) {
			*value = meta.NewMicroTime(time.Unix(c.Int63n(1<<33)-1<<32, c.Int63n(1e6)*1000).UTC())
		},
		func(value *resource.Quantity, c randfill.Continue) {
			*value = resource.MustParse(quantities[c.Intn(len(quantities))])
		},
		func(value *intstr.IntOrString, c randfill.Continue) {
			*value = intstr.FromInt32(c.Int31n(70000))
			if c.Bool() {
				*value = intstr.FromString(texts[c.Intn(len(texts))])
			}
		},
		func(value *meta.FieldsV1, c randfill.Continue) {
			value.Raw = []byte(`{"f:spec":{"f:x":{},"k:{\"port\":8}":{".":{}}}}`)
		},
	)
}
