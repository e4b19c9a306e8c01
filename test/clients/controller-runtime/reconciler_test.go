package example

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var (
	url      string
	clusters atomic.Int64
	yes      = true
)

// TestMain runs one server for all tests of the package.
func TestMain(m *testing.M) {
	os.Exit(withServer(m.Run))
}

func withServer(run func() int) int {
	folder, err := os.MkdirTemp("", "servicenet-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	servicenet := exec.Command("servicenet", "serve", "--port", "0", "--insecure-http", "--data-dir", folder)
	out, err := servicenet.StdoutPipe()
	if err != nil {
		panic(err)
	}
	servicenet.Stderr = os.Stderr
	if err := servicenet.Start(); err != nil {
		panic(err)
	}
	defer servicenet.Wait()
	defer servicenet.Process.Signal(os.Interrupt)
	lines := bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		if _, rest, found := strings.Cut(lines.Text(), "ready at "); found {
			url, _, _ = strings.Cut(rest, " ")
		}
	}
	go io.Copy(io.Discard, out)
	return run()
}

// newCluster makes a cluster that shares nothing with those of other tests.
func newCluster(t *testing.T) *rest.Config {
	t.Helper()
	host := fmt.Sprintf("%s/clusters/test-%d", url, clusters.Add(1))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, host, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", host, answer.Status)
	}
	return &rest.Config{Host: host}
}

// family is the controller under test: each Service gets a label with the family of its address.
type family struct{ client.Client }

func (f *family) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var service corev1.Service
	if err := f.Get(ctx, request.NamespacedName, &service); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	patch := client.MergeFrom(service.DeepCopy())
	metav1.SetMetaDataLabel(&service.ObjectMeta, "family", string(service.Spec.IPFamilies[0]))
	return ctrl.Result{}, f.Patch(ctx, &service, patch)
}

// Both tests make a Service of one name, at the same time.
func TestFamily(t *testing.T) {
	for _, port := range []int32{80, 443} {
		t.Run(fmt.Sprint(port), func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			manager, err := ctrl.NewManager(cluster, ctrl.Options{
				Controller: config.Controller{SkipNameValidation: &yes},
				Metrics:    server.Options{BindAddress: "0"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := ctrl.NewControllerManagedBy(manager).For(&corev1.Service{}).Complete(&family{manager.GetClient()}); err != nil {
				t.Fatal(err)
			}
			go manager.Start(t.Context())

			api, err := client.New(cluster, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			service := &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
				Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: port}}},
			}
			if err := api.Create(t.Context(), service); err != nil {
				t.Fatal(err)
			}
			err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
				err := api.Get(ctx, client.ObjectKeyFromObject(service), service)
				return service.Labels["family"] == "IPv4", err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A suite that kubebuilder has written begins with an Environment. This one starts no kube-apiserver and no etcd.
func TestEnvironment(t *testing.T) {
	environment := &envtest.Environment{UseExistingCluster: &yes, Config: newCluster(t)}
	cluster, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer environment.Stop()
	api, err := client.New(cluster, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var namespaces corev1.NamespaceList
	if err := api.List(t.Context(), &namespaces); err != nil {
		t.Fatal(err)
	}
	if len(namespaces.Items) != 4 {
		t.Fatalf("%d namespaces", len(namespaces.Items))
	}
}
