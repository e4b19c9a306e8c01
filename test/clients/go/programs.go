package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
)

const (
	namespace   = "default"
	eventWait   = 30 * time.Second
	pagedCount  = 230
	pageSize    = 50
	pagedLabels = "paged=yes"
)

var services = schema.GroupVersionResource{Version: "v1", Resource: "services"}

func must[T any](value T, err error) T {
	if err != nil {
		fail(err)
	}
	return value
}

func check(holds bool, format string, args ...any) {
	if !holds {
		fail(fmt.Errorf(format, args...))
	}
}

func aService(name string, labels map[string]string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
	}
}

// metadataClient lists, gets, patches, watches and deletes by metadata alone.
func metadataClient(config *rest.Config) {
	ctx := context.Background()
	typed := kubernetes.NewForConfigOrDie(config)
	created := must(typed.CoreV1().Services(namespace).Create(ctx, aService("by-metadata", nil), metav1.CreateOptions{}))
	// The constructor sets protobuf itself, whatever the config says.
	client := must(metadata.NewForConfig(config)).Resource(services).Namespace(namespace)
	got := must(client.Get(ctx, "by-metadata", metav1.GetOptions{}))
	check(got.UID == created.UID, "get: %+v", got)
	list := must(client.List(ctx, metav1.ListOptions{}))
	changes := must(client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true}))
	patch := []byte(`{"metadata":{"annotations":{"by":"metadata"}}}`)
	must(client.Patch(ctx, "by-metadata", "application/merge-patch+json", patch, metav1.PatchOptions{}))
	next(changes, watch.Modified, func(object *metav1.PartialObjectMetadata) bool { return object.Annotations["by"] == "metadata" })
	check(client.Delete(ctx, "by-metadata", metav1.DeleteOptions{}) == nil, "delete")
	next(changes, watch.Deleted, func(object *metav1.PartialObjectMetadata) bool { return object.UID == created.UID })
	say(map[string]int{"listed": len(list.Items)})
}

// next waits for an event that fits.
func next[T runtime.Object](changes watch.Interface, kind watch.EventType, fits func(T) bool) {
	late := time.After(eventWait)
	for {
		select {
		case event, open := <-changes.ResultChan():
			check(open, "the watch ended before %s", kind)
			object, known := event.Object.(T)
			if event.Type == kind && known && fits(object) {
				return
			}
		case <-late:
			fail(fmt.Errorf("no event %s", kind))
		}
	}
}

// dynamicClient writes and reads a Service as a plain map, with its status.
func dynamicClient(config *rest.Config) {
	ctx := context.Background()
	client := dynamic.NewForConfigOrDie(config).Resource(services).Namespace(namespace)
	object := &unstructured.Unstructured{Object: must(runtime.DefaultUnstructuredConverter.ToUnstructured(aService("by-map", nil)))}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	created := must(client.Create(ctx, object, metav1.CreateOptions{}))
	address, _, _ := unstructured.NestedString(created.Object, "spec", "clusterIP")
	check(address != "", "no ClusterIP: %v", created.Object)
	created.SetLabels(map[string]string{"changed": "yes"})
	updated := must(client.Update(ctx, created, metav1.UpdateOptions{}))
	_, err := client.Update(ctx, created, metav1.UpdateOptions{})
	check(apierrors.IsConflict(err), "an update of an old state: %v", err)
	ingress := []any{map[string]any{"ip": "192.0.2.1"}}
	check(unstructured.SetNestedSlice(updated.Object, ingress, "status", "loadBalancer", "ingress") == nil, "status")
	_, err = client.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	check(apierrors.IsInvalid(err), "an ingress of a Service that is no load balancer: %v", err)
	check(client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "changed=yes"}) == nil, "deletecollection")
	_, err = client.Get(ctx, "by-map", metav1.GetOptions{})
	check(apierrors.IsNotFound(err), "after the deletion: %v", err)
	say(map[string]string{"address": address})
}

// applyConfigurations applies typed configurations as two managers: fields are owned, a conflict is told, force takes over.
func applyConfigurations(config *rest.Config) {
	ctx := context.Background()
	client := kubernetes.NewForConfigOrDie(config).CoreV1().Services(namespace)
	port := func(number int32) *corev1apply.ServicePortApplyConfiguration {
		return corev1apply.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromInt32(number))
	}
	desired := corev1apply.Service("by-apply", namespace).WithLabels(map[string]string{"owner": "one"}).
		WithSpec(corev1apply.ServiceSpec().WithPorts(port(8080)))
	first := must(client.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: "one"}))
	same := must(client.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: "one"}))
	check(first.ResourceVersion == same.ResourceVersion, "a repeated apply changed %s to %s", first.ResourceVersion, same.ResourceVersion)
	other := corev1apply.Service("by-apply", namespace).WithLabels(map[string]string{"owner": "two"})
	_, err := client.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"})
	check(apierrors.IsConflict(err), "another value of an owned field: %v", err)
	forced := must(client.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true}))
	check(forced.Labels["owner"] == "two", "forced: %v", forced.Labels)
	extracted := must(corev1apply.ExtractService(forced, "two"))
	check(extracted.Labels["owner"] == "two" && extracted.Spec == nil, "what two owns: %+v", extracted)
	// What its owner no longer applies goes.
	without := must(client.Apply(ctx, corev1apply.Service("by-apply", namespace), metav1.ApplyOptions{FieldManager: "two"}))
	check(without.Labels["owner"] == "", "the label stays: %v", without.Labels)
	check(client.Delete(ctx, "by-apply", metav1.DeleteOptions{}) == nil, "delete")
	say(map[string]int{"managers": len(forced.ManagedFields)})
}

// fieldValidation sends an unknown field: Strict refuses it, Warn warns, Ignore says nothing.
func fieldValidation(config *rest.Config) {
	ctx := context.Background()
	warnings := &recorded{}
	config = rest.CopyConfig(config)
	config.WarningHandler = warnings
	client := dynamic.NewForConfigOrDie(config).Resource(services).Namespace(namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "misspelt"},
		"spec":     map[string]any{"ports": []any{map[string]any{"port": int64(80)}}, "selectr": map[string]any{"app": "a"}},
	}}
	dryRun := []string{metav1.DryRunAll}
	_, err := client.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun})
	check(apierrors.IsBadRequest(err), "Strict: %v", err)
	must(client.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore, DryRun: dryRun}))
	check(len(warnings.texts) == 0, "Ignore: %v", warnings.texts)
	must(client.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn, DryRun: dryRun}))
	say(map[string]any{"strict": err.Error(), "warnings": warnings.texts})
}

type recorded struct{ texts []string }

func (r *recorded) HandleWarningHeader(_ int, _ string, text string) { r.texts = append(r.texts, text) }

// pages lists many Services in pages while others change.
func pages(config *rest.Config) {
	ctx := context.Background()
	client := kubernetes.NewForConfigOrDie(config).CoreV1().Services(namespace)
	labels := map[string]string{"paged": "yes"}
	for i := range pagedCount {
		must(client.Create(ctx, aService(fmt.Sprintf("paged-%03d", i), labels), metav1.CreateOptions{}))
	}
	asked := 0
	list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		asked++
		if asked == 2 {
			// A page is of the first page's moment: this deletion is not seen.
			check(client.Delete(ctx, fmt.Sprintf("paged-%03d", pagedCount-1), metav1.DeleteOptions{}) == nil, "delete")
		}
		return client.List(ctx, options)
	})
	list.PageSize = pageSize
	seen := 0
	err := list.EachListItem(ctx, metav1.ListOptions{LabelSelector: pagedLabels}, func(runtime.Object) error { seen++; return nil })
	check(err == nil, "pages: %v", err)
	collection := metadata.NewForConfigOrDie(config).Resource(services).Namespace(namespace)
	check(collection.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: pagedLabels}) == nil, "deletecollection")
	say(map[string]int{"seen": seen, "pages": asked})
}
