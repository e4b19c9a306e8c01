//go:build newer

// What client-go 0.37 has and 0.36 does not.
package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func init() { newerPrograms["newer"] = newerMembers }

// newerMembers creates a Pod with members that 1.37 added, and prints how many of them came back and what the server warned of.
func newerMembers(config *rest.Config) {
	ctx := context.Background()
	warnings := &recorded{}
	config = rest.CopyConfig(config)
	config.WarningHandler = warnings
	client := kubernetes.NewForConfigOrDie(config).CoreV1().Pods(namespace)
	priority := int32(1)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "newer"},
		Spec: corev1.PodSpec{
			EvictionResponders: []corev1.EvictionResponder{{Name: "example.com/responder", Priority: &priority}},
			Containers:         []corev1.Container{{Name: "main", Image: "example.com/image:1"}},
		},
	}
	created := must(client.Create(ctx, pod, metav1.CreateOptions{}))
	check(client.Delete(ctx, pod.Name, metav1.DeleteOptions{}) == nil, "delete")
	say(map[string]any{"kept": len(created.Spec.EvictionResponders), "containers": len(created.Spec.Containers), "warnings": len(warnings.texts)})
}
