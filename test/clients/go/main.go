// Command clients runs one client-go program against a Kubernetes API server. The tests in test/e2e/clients start it.
//
// Each program prints one JSON object a line and exits with 0; a failure is a line on stderr and exit code 1.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

var printing sync.Mutex

// newerPrograms are those that only the newer client-go can run: the build tag "newer" adds them.
var newerPrograms = map[string]func(*rest.Config){}

// say prints one line of the program's answer.
func say(line any) {
	printing.Lock()
	defer printing.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// configOf reads the kubeconfig. With asProtobuf typed clients send protobuf and prefer it in answers.
func configOf(kubeconfig string, asProtobuf bool) *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		fail(err)
	}
	// The tests look at what the server does under load, not at the client's own throttle.
	config.QPS, config.Burst = 1000, 1000
	if asProtobuf {
		config.ContentType = protobuf
		config.AcceptContentTypes = protobuf + ",application/json"
	} else {
		config.ContentType = "application/json"
		config.AcceptContentTypes = "application/json"
	}
	return config
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	asProtobuf := flag.Bool("protobuf", false, "typed clients speak protobuf")
	identity := flag.String("identity", "", "of an elector")
	flag.Parse()
	config := configOf(*kubeconfig, *asProtobuf)
	programs := map[string]func(){
		"informers":  func() { informers(config) },
		"elect":      func() { elect(config, *identity) },
		"metadata":   func() { metadataClient(config) },
		"dynamic":    func() { dynamicClient(config) },
		"apply":      func() { applyConfigurations(config) },
		"validation": func() { fieldValidation(config) },
		"pager":      func() { pages(config) },
	}
	for name, run := range newerPrograms {
		programs[name] = func() { run(config) }
	}
	program, found := programs[flag.Arg(0)]
	if !found {
		fail(fmt.Errorf("no program %q", flag.Arg(0)))
	}
	program()
}
