// CoreDNS with the plugins that docs/services-without-kubernetes.md names. The whole of it needs the libraries of every cloud.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() {
	// In upstream's order (plugin.cfg).
	dnsserver.Directives = []string{"bind", "errors", "kubernetes", "forward"}
	coremain.Run()
}
