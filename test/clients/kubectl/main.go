// kubectl from its Go module. Upstream's own main package stands in k8s.io/kubernetes, which is not built for this. Source: cmd/kubectl/kubectl.go.
package main

import (
	"os"

	// The authentication plugins of client-go.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	// Before the flags are parsed, for what plugins and .kuberc log. A wrong level is refused by the flag itself.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
