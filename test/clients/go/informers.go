package main

import (
	"bufio"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// informers keeps a typed shared informer for every served type that can be listed and watched. For each line on stdin it prints what its
// caches hold: by type, the resourceVersion of each object.
func informers(config *rest.Config) {
	client := kubernetes.NewForConfigOrDie(config)
	factory := clientinformers.NewSharedInformerFactory(client, 0)
	kept := map[string]clientinformers.GenericInformer{}
	for _, resource := range served(client) {
		informer, err := factory.ForResource(resource)
		if err != nil {
			fail(err)
		}
		// Starts with the factory.
		informer.Informer()
		kept[resource.GroupResource().String()] = informer
	}
	factory.Start(nil)
	for resource, synced := range factory.WaitForCacheSync(nil) {
		if !synced {
			say(map[string]string{"notSynced": resource.String()})
		}
	}
	say(map[string]int{"synced": len(kept)})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		held := map[string]map[string]string{}
		for resource, informer := range kept {
			held[resource] = map[string]string{}
			for _, object := range informer.Informer().GetStore().List() {
				metadata, err := meta.Accessor(object)
				if err != nil {
					fail(err)
				}
				held[resource][metadata.GetNamespace()+"/"+metadata.GetName()] = metadata.GetResourceVersion()
			}
		}
		say(held)
	}
}

// served are the preferred versions of all types with list and watch.
func served(client kubernetes.Interface) []schema.GroupVersionResource {
	lists, err := client.Discovery().ServerPreferredResources()
	if err != nil {
		fail(err)
	}
	watched := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, lists)
	resources, err := discovery.GroupVersionResources(watched)
	if err != nil {
		fail(err)
	}
	all := make([]schema.GroupVersionResource, 0, len(resources))
	for resource := range resources {
		// client-go has no types of the kinds of this server alone, nor of Cluster API's.
		if resource.Group == "servicenet.dev" || resource.Group == "ipam.cluster.x-k8s.io" || resource.Group == "multicluster.x-k8s.io" {
			continue
		}
		all = append(all, resource)
	}
	slices.SortFunc(all, func(a, b schema.GroupVersionResource) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	return all
}
